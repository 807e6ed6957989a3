// Opening a session, and its log.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>
#include <troupe/actors/journal.hpp>

namespace troupe::actors {
namespace {

constexpr std::uint64_t measured_every = 16; // deltas

} // namespace

open_options supervisor::default_open() const {
  open_options options;
  options.owner = environment_->owner;
  return options;
}

void supervisor::read_log(std::optional<open_options> open) {
  phase_ = phase::reading;
  if (!environment_->journal)
    return take_contents(read_contents(*environment_->store, session_, open));
  if (!std::exchange(watches_journal_, true))
    monitor(environment_->journal);
  send(environment_->journal, read_session{session_, std::move(open), this});
}

void supervisor::take_contents(result<session_contents> contents) {
  if (phase_ != phase::reading)
    return;
  if (!contents && epoch_ != 0)
    return fail_store(contents.failure());
  if (!contents) {
    store_fault_ = contents.failure();
    phase_ = phase::failed;
  } else {
    phase_ = phase::open;
    const bool again = epoch_ != 0;
    if (contents->lease.epoch != 0) {
      epoch_ = contents->lease.epoch;
      shared_state_ = std::move(contents->shared);
    }
    if (again)
      rebuild_root(std::make_shared<agent_state>(std::move(contents->folded.root)));
    else
      adopt(std::move(contents->folded));
  }
  replaying_ = true;
  for (const auto& later : std::exchange(stashed_, {}))
    later();
  replaying_ = false;
  if (phase_ == phase::failed)
    send(owner_, supervisor_idle{session_}); // the next request gets a fresh try
  else if (phase_ == phase::open)
    note_quiet();
}

void supervisor::turn_down(const start_run& start) {
  waiting_run next{start.request, std::move(*start.feed)};
  refuse(next, errc::busy, "Too many requests wait for session '" + session_.str() + "'.");
}

void supervisor::turn_down(const steer_agents& steer) {
  if (steer.done)
    steer.done(error{errc::busy, "Too many requests wait for session '" + steer.session.str() + "'."});
}

void supervisor::turn_down(const answer_question& answer) {
  if (answer.done)
    answer.done(error{errc::busy, "Too many requests wait for session '" + answer.session.str() + "'."});
}

void supervisor::turn_down(const query_tasks& query) {
  query.done(error{errc::busy, "Too many requests wait for session '" + query.session.str() + "'."});
}

void supervisor::adopt(folded_session folded) {
  seq_ = durable_seq_ = folded.last_seq;
  next_number_ = folded.next_agent;
  next_run_ = folded.next_run;
  wakes_ = folded.wakes;
  pending_results_ = static_cast<std::uint32_t>(folded.root.background->size());
  if (folded.root.events > 0)
    restored_root_ = std::make_shared<agent_state>(folded.root);
  for (const auto& [id, question] : folded.questions)
    questions_[id] = {question, next_question_++, nullptr};
  if (folded.under_way() || !folded.tasks.empty() || pending_results_ > 0)
    lost_ = std::move(folded);
}

void supervisor::close_lost_run() {
  if (restored_root_ == nullptr || restored_root_->phase == agent_phase::idle)
    return;
  close_root("The run was interrupted.", errc::interrupted, idle_origin());
}

// Writes the results of the root's open calls and its end.
void supervisor::close_root(const std::string& why, errc code, const event_origin_ptr& origin) {
  auto decided = decide(agent_profile{}, *restored_root_, input::give_up{code, why});
  auto batch = std::make_shared<event_batch>(
      make_events(decided, origin, *restored_root_, environment_->wall_clock()));
  for (const auto& e : *batch)
    apply_to(*restored_root_, e);
  publish(batch);
  close_questions_of(0);
}

void supervisor::publish(const std::shared_ptr<event_batch>& batch) {
  for (auto& e : *batch)
    e.seq = ++seq_;
  event_batch_ptr stamped = batch;
  if (environment_->journal) {
    unwritten_.push_back({seq_, stamped, run_ ? run_->feed.shared() : nullptr});
    send(environment_->journal, write_log{{session_, epoch_, stamped}, this});
  } else {
    if (auto stored = environment_->store->append_one({session_, epoch_, stamped}); !stored)
      return fail_store(stored.failure());
    durable_seq_ = seq_;
    if (run_)
      run_->feed->push(stamped);
  }
  collector_.add(stamped, environment_->observed->events_followed.load(std::memory_order_relaxed));
  send_activity();
}

void supervisor::take_written(const log_written& report) {
  if (!report.written)
    return fail_store(report.written.failure());
  durable_seq_ = std::max(durable_seq_, report.seq);
  while (!unwritten_.empty() && unwritten_.front().seq <= durable_seq_) {
    if (unwritten_.front().feed)
      unwritten_.front().feed->push(unwritten_.front().batch);
    unwritten_.pop_front();
  }
  while (!when_durable_.empty() && when_durable_.front().seq <= durable_seq_) {
    auto action = std::move(when_durable_.front().action);
    when_durable_.pop_front();
    action();
  }
}

void supervisor::when_durable(std::function<void()> action, std::function<void(const error&)> lost) {
  if (durable_seq_ >= seq_)
    return action();
  when_durable_.push_back({seq_, std::move(action), std::move(lost)});
}

void supervisor::fail_store(const error& why) {
  fail_all({why.code == errc::fenced ? errc::fenced : errc::store_failed, why.message});
  quit(caf::make_error(caf::sec::runtime_error, why.message));
}

void supervisor::fail_all(const error& why) {
  if (!members_.empty() || !waiting_.empty()) {
    collector_.note_closed(why.message);
    send_activity(true);
  }
  auto fail = [&why](run_feed_writer& feed) {
    if (feed)
      feed->finish(outcome::make_failed(why.code, why.message));
  };
  if (run_)
    fail(run_->feed);
  if (resuming_)
    fail(resuming_->feed);
  for (auto& next : waiting_)
    fail(next.feed);
  run_.reset();
  resuming_.reset();
  waiting_.clear();
  auto refuse = [&why](std::function<void(status)>& acknowledge) {
    if (acknowledge)
      std::exchange(acknowledge, nullptr)(why);
  };
  for (auto& [number, agent] : members_)
    for (auto& hint : agent.hints)
      refuse(hint.done);
  for (auto& hint : root_hints_)
    refuse(hint.done);
  for (auto& [question, open] : questions_)
    refuse(open.done);
  for (auto& answer : early_answers_)
    refuse(answer.done);
  for (auto& [feed, result] : suspended_runs_)
    feed->finish(outcome::make_failed(why.code, why.message));
  suspended_runs_.clear();
  for (const auto& told : std::exchange(suspended_, {}))
    told();
  for (const auto& waits : std::exchange(when_durable_, {}))
    if (waits.lost)
      waits.lost(why);
  unwritten_.clear();
  for (const auto& is_quiet : std::exchange(await_quiet_, {}))
    is_quiet();
}

void supervisor::send_activity(bool at_once) {
  collector_.note_queued(static_cast<std::uint32_t>(waiting_.size()));
  if ((activity_in_flight_ && !at_once) || collector_.empty())
    return;
  activity_in_flight_ = true;
  const bool measured = ++deltas_sent_ % measured_every == 0;
  send(environment_->observer,
       activity_message{collector_.take(), measured ? std::chrono::steady_clock::now() : steady_time{}});
}

void supervisor::write_for(member& agent, std::initializer_list<event_body> bodies) {
  auto batch = std::make_shared<event_batch>();
  for (const auto& body : bodies) {
    event e;
    e.index = ++agent.events;
    e.time = environment_->wall_clock();
    e.origin = agent.origin;
    e.body = body;
    batch->push_back(std::move(e));
  }
  publish(batch);
}

} // namespace troupe::actors
