// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>

namespace troupe::actors {
namespace {

constexpr std::size_t load_page = 4096;

} // namespace

supervisor::behavior_type supervisor::make_behavior() {
  make_context();
  load();
  close_lost_run();
  arm_idle();
  return {
      [this](const start_run& start) { accept(start); },
      [this](const agent_step& step) { take_step(step); },
      [this](const steer_agents& steer) { route_hint(steer); },
      [this](const answer_question& answer) { route_answer(answer); },
      [this](const cancel_agents& cancel) { route_cancel(cancel); },
      [this](const tick& t) {
        if (t.generation == tick_generation_)
          fire_deadlines();
      },
      [this](const activity_taken&) {
        activity_in_flight_ = false;
        send_activity();
      },
      [this](const stop_actor&) { quit(); },
  };
}

void supervisor::on_exit() {
  const error gone{errc::shutting_down, "The session has ended."};
  for (auto& [number, agent] : members_)
    for (auto& hint : agent.hints)
      if (hint.done)
        hint.done(gone);
  for (auto& [question, open] : questions_)
    if (open.done)
      open.done(gone);
  for (auto& [number, agent] : members_)
    send_exit(agent.handle, caf::exit_reason::user_shutdown);
  members_.clear();
  run_.reset();
  waiting_.clear();
  context_.reset();
  owner_ = nullptr;
}

void supervisor::make_context() {
  auto context = std::make_shared<session_context>();
  context->session = session_;
  context->supervisor = this;
  context->observer = environment_->observer;
  context->tools = environment_->tools;
  context->models = environment_->models;
  context->wall_clock = environment_->wall_clock;
  context->watchers = environment_->watchers;
  context_ = std::move(context);
}

void supervisor::load() {
  agent_state root;
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    auto page = environment_->store->read(session_, after, load_page);
    if (!page) {
      store_fault_ = page.failure();
      return;
    }
    for (const auto& batch : page->batches)
      for (const auto& e : *batch)
        if (e.seq > after)
          root = load_event(std::move(root), e);
    more = page->more && !page->batches.empty();
    after = more ? page->batches.back()->back().seq : page->last_seq;
    next_number_ = std::max(next_number_, page->last_agent + 1);
  }
  seq_ = after;
  restored_root_ = root.events > 0 ? std::make_shared<agent_state>(std::move(root)) : nullptr;
}

// A run that was under way when an earlier supervisor died has no end in the log: it gets one.
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
    *restored_root_ = apply(std::move(*restored_root_), e);
  publish(batch);
}

agent_state supervisor::load_event(agent_state root, const event& e) {
  next_number_ = std::max(next_number_, e.origin->number + 1);
  session_id session;
  const auto& run = e.run().str();
  if (auto slash = run.rfind("/r"); slash != std::string::npos)
    next_run_ = std::max(next_run_,
                         static_cast<std::uint32_t>(std::strtoul(run.c_str() + slash + 2, nullptr, 10)) + 1);
  return e.origin->number == 0 ? apply(std::move(root), e) : std::move(root);
}

void supervisor::publish(const std::shared_ptr<event_batch>& batch) {
  for (auto& e : *batch)
    e.seq = ++seq_;
  event_batch_ptr stamped = batch;
  if (auto stored = environment_->store->append(session_, stamped); !stored)
    return fail_store(stored.failure());
  if (run_)
    run_->feed->push(stamped);
  collector_.add(*stamped);
  send_activity();
}

void supervisor::fail_store(const error& why) {
  if (run_)
    run_->feed->finish(outcome::make_failed(errc::store_failed, why.message));
  quit(caf::make_error(caf::sec::runtime_error, why.message));
}

void supervisor::send_activity(bool at_once) {
  if ((activity_in_flight_ && !at_once) || collector_.empty())
    return;
  activity_in_flight_ = true;
  send(environment_->observer, activity_message{collector_.take()});
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

void supervisor::schedule() {
  auto earliest = deadlines_.earliest();
  if (!earliest || (tick_at_ && *tick_at_ <= *earliest))
    return;
  tick_at_ = earliest;
  const auto time = actor_time(this);
  send_later(this, *earliest > time ? *earliest - time : std::chrono::steady_clock::duration::zero(),
             tick{++tick_generation_});
}

void supervisor::fire_deadlines() {
  tick_at_.reset();
  for (const auto& [number, kind] : deadlines_.due(actor_time(this))) {
    if (kind == timer_kind::idle)
      send(owner_, supervisor_idle{session_});
    else
      tell(number, input::deadline{kind == timer_kind::run ? input::deadline_kind::run
                                                           : input::deadline_kind::grace});
  }
  schedule();
}

supervisor_handle spawn_supervisor(sessions_handle::base* owner, session_id session,
                                   std::shared_ptr<const supervisor_environment> environment) {
  return owner->spawn<supervisor, caf::monitored>(std::move(session), std::move(environment),
                                                  sessions_handle{owner});
}

} // namespace troupe::actors
