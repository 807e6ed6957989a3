// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>

namespace troupe::actors {

void supervisor::accept(const start_run& start) {
  deadlines_.clear(key_of(0, timer_kind::idle));
  auto options = default_open();
  options.user = start.request->user;
  options.app = start.request->app;
  options.owned = start.request->take_over ? when_owned::take_over : when_owned::refuse;
  if (!ready(
          start, [this](const start_run& s) { accept(s); }, options))
    return;
  waiting_run next{start.request, std::move(*start.feed)};
  if (store_fault_)
    return refuse(next, store_fault_->code, store_fault_->message);
  no_wake_ = false;
  const bool reject = start.request->busy == on_busy::reject;
  const bool resumes = next.request->message == nullptr;
  if (resumes && lost_ && lost_->root_origin && lost_->root_origin->author != next.request->root->name)
    return refuse(next, errc::unknown_agent,
                  "Session '" + session_.str() + "' belongs to the agent '" + lost_->root_origin->author +
                      "', not to '" + next.request->root->name + "'.");
  if (lost_)
    take_up(next);
  if (!next.feed)
    return;
  if (resumes)
    return resume_rest(std::move(next));
  if (run_ && reject)
    return refuse(next, errc::busy, "Session '" + session_.str() + "' is busy with another run.");
  if (waiting_.size() >= environment_->options.max_waiting_runs)
    return refuse(next, errc::busy, "Too many runs wait in session '" + session_.str() + "'.");
  waiting_.push_back(std::move(next));
  if (!run_ && phase_ == phase::open)
    begin_next();
  else
    send_activity();
}

void supervisor::refuse(waiting_run& next, errc code, std::string why) {
  next.feed->finish(outcome::make_failed(code, std::move(why)));
  send(owner_, work_done{session_});
  if (phase_ == phase::failed)
    send(owner_, supervisor_idle{session_});
  else if (phase_ == phase::open)
    note_quiet();
}

void supervisor::take_up(waiting_run& next) {
  auto lost = std::move(*lost_);
  lost_.reset();
  last_request_ = next.request;
  taking_up_ = true;
  for (const auto& given : next.request->answers)
    early_answers_.push_back({session_, given.question, given.value, "user", nullptr});
  const bool same_root = lost.root_origin && lost.root_origin->author == next.request->root->name;
  for (auto& [number, child] : lost.children)
    if (!child.started.background)
      lost_children_.insert_or_assign(child.origin->parent_call, child);
  if (lost.under_way() && same_root)
    take_up_run(lost, next);
  else
    close_lost_run();
  lost_ = std::move(lost);
  restore_tasks(*last_request_->root, last_request_->answerable);
  lost_.reset();
  taking_up_ = false;
  take_early_answers();
}

void supervisor::take_up_run(const folded_session& lost, waiting_run& next) {
  current_run run;
  run.request = next.request;
  if (next.request->message == nullptr) {
    run.feed = std::move(next.feed);
  } else {
    // Who started the run is gone; nobody follows it.
    run.feed = run_feed_writer{std::make_shared<run_feed>(session_, environment_->store)};
    send(owner_, work_begun{session_});
  }
  run.origin = lost.root_origin;
  run.children = lost.run_children;
  if (run.request->limits.budget_tokens) {
    run.budget = std::make_shared<run_budget>(*run.request->limits.budget_tokens);
    run.budget->settle(0, usage{lost.run_tokens, 0, 0, 0});
  }
  run.feed->begin(run.origin->run, seq_ + 1);
  show_restored(run.origin, {run.origin->author, "root", run.request->root->model, 0, false}, lost.root);
  run_ = std::move(run);
  restart_root();
}

void supervisor::resume_rest(waiting_run next) {
  if (run_ || resuming_)
    return refuse(next, errc::busy, "A run of session '" + session_.str() + "' is under way.");
  if (seq_ == 0)
    return refuse(next, errc::not_found, "There is no session '" + session_.str() + "'.");
  last_request_ = next.request;
  resuming_ = std::move(next);
  begin_next();
}

void supervisor::begin_next() {
  if (!waiting_.empty()) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next.feed.shared()->result()) { // whoever started it has cancelled it
      refuse(next, errc::cancelled, "The run was cancelled before it began.");
      return begin_next();
    }
    wakes_ = 0;
    wake_limit_told_ = false;
    return begin(std::move(next), false);
  }
  if (will_wake())
    return begin_woken();
  if (pending_results_ > 0 && last_request_ && wakes_ >= last_request_->limits.max_wakes &&
      !wake_limit_told_) {
    wake_limit_told_ = true;
    ensure_root();
    tell(0, input::note{warning_body{errc::not_allowed,
                                     "Background results set " + std::to_string(wakes_) +
                                         " runs in motion; what comes now waits for the next message.",
                                     {},
                                     false}});
  }
  note_quiet();
}

bool supervisor::will_wake() const {
  return !run_ && !no_wake_ && waiting_.empty() && pending_results_ > 0 && last_request_ &&
         last_request_->background == on_background_result::wake && wakes_ < last_request_->limits.max_wakes;
}

void supervisor::begin_woken() {
  ++wakes_;
  waiting_run next;
  if (resuming_) {
    next = std::move(*resuming_);
    resuming_.reset();
  } else {
    auto request = std::make_shared<run_request>(*last_request_);
    request->message = nullptr;
    auto feed = std::make_shared<run_feed>(session_, environment_->store);
    next = {std::move(request), run_feed_writer{feed}};
    send(owner_, work_begun{session_});
    if (last_request_->on_woken_run)
      last_request_->on_woken_run(feed);
  }
  begin(std::move(next), true);
}

void supervisor::begin(waiting_run next, bool woken) {
  deadlines_.clear(key_of(0, timer_kind::idle));
  auto origin = std::make_shared<event_origin>();
  origin->session = session_;
  origin->run = make_run_id(session_, next_run_++);
  origin->agent = make_agent_id(session_, 0);
  origin->author = next.request->root->name;
  origin->branch = next.request->root->name;
  current_run run;
  run.request = std::move(next.request);
  run.feed = std::move(next.feed);
  run.origin = origin;
  run.woken = woken;
  if (run.request->limits.budget_tokens)
    run.budget = std::make_shared<run_budget>(*run.request->limits.budget_tokens);
  run.feed->begin(origin->run, seq_ + 1);
  run_ = std::move(run);
  last_request_ = run_->request;
  root_restarts_.clear();
  start_root();
}

void supervisor::start_root() {
  auto& root = ensure_root();
  root.origin = run_->origin;
  root.model = run_->request->root->model;
  auto start = std::make_shared<input::start>();
  start->request = run_->woken ? nullptr : run_->request->message;
  start->kind = "root";
  start->background = run_->woken;
  start->shared = shared_state_;
  expect_run(root.handle, *run_->request->root);
  send(root.handle, begin_run{run_->request->root, run_->origin, std::move(start), run_->budget,
                              run_->request->answerable, run_->request->hops});
}

member& supervisor::ensure_root() {
  auto found = members_.find(0);
  if (found != members_.end())
    return found->second;
  agent_start start;
  start.context = context_;
  start.origin = run_ ? run_->origin : idle_origin();
  start.has_hooks = !run_ || run_->request->root->before_and_after != nullptr;
  start.restored = std::exchange(restored_root_, nullptr);
  member root;
  root.kind = "root";
  root.origin = start.origin;
  root.events = start.restored ? start.restored->events : 0;
  return add_member(0, std::move(root), std::move(start));
}

event_origin_ptr supervisor::idle_origin() const {
  auto origin = std::make_shared<event_origin>();
  origin->session = session_;
  origin->run = make_run_id(session_, next_run_ > 1 ? next_run_ - 1 : 1);
  origin->agent = make_agent_id(session_, 0);
  origin->author = last_request_ ? last_request_->root->name : "root";
  origin->branch = origin->author;
  return origin;
}

void supervisor::end_run(outcome result) {
  if (!run_)
    return;
  auto ended = std::move(*run_);
  run_.reset();
  ended_children_.clear();
  lost_children_.clear();
  send_activity(true);
  // What comes next counts as work before this run no longer does.
  begin_next();
  finish_when_durable(std::move(ended.feed), std::move(result));
}

// What is given to the user is durable first.
void supervisor::finish_when_durable(run_feed_writer feed, outcome result) {
  auto shared = std::make_shared<run_feed_writer>(std::move(feed));
  when_durable(
      [this, shared, result] {
        (*shared)->finish(result);
        send(owner_, work_done{session_});
      },
      [shared](const error& why) { (*shared)->finish(outcome::make_failed(why.code, why.message)); });
}

bool supervisor::quiet() const {
  return !run_ && waiting_.empty() && running_tasks_ == 0 && queued_tasks_.empty() && undelivered_ == 0 &&
         !will_wake();
}

void supervisor::note_quiet() {
  if (!quiet() || phase_ == phase::reading)
    return;
  if (resuming_) {
    auto next = std::move(*resuming_);
    resuming_.reset();
    finish_when_durable(std::move(next.feed), outcome{});
  }
  if (!await_quiet_.empty())
    when_durable([waits = std::exchange(await_quiet_, {})] {
      for (const auto& is_quiet : waits)
        is_quiet();
    });
  arm_idle();
}

void supervisor::suspend(const outcome& result, std::function<void()> suspended) {
  if (suspended)
    suspended_.push_back(std::move(suspended));
  if (phase_ == phase::leaving)
    return;
  for (auto& [number, agent] : members_) {
    send_exit(agent.handle, caf::exit_reason::user_shutdown);
    for (auto& hint : agent.hints)
      root_hints_.push_back(std::move(hint)); // refused when it ends
  }
  members_.clear();
  starting_ = 0;
  holding_back_.clear();
  by_actor_.clear();
  by_call_.clear();
  tasks_.clear();
  queued_tasks_.clear();
  running_tasks_ = undelivered_ = pending_results_ = 0;
  deadlines_ = {};
  phase_ = phase::leaving;
  if (run_)
    suspended_runs_.emplace_back(std::move(run_->feed), result);
  if (resuming_)
    suspended_runs_.emplace_back(std::move(resuming_->feed), result);
  for (auto& next : waiting_)
    suspended_runs_.emplace_back(
        std::move(next.feed),
        outcome::make_failed(result.code(),
                             "An earlier run of the session was under way, and is suspended: " +
                                 result.detail() + " This message was not taken."));
  run_.reset();
  resuming_.reset();
  waiting_.clear();
  send_activity();
  when_durable([this] { send(owner_, supervisor_leaves{session_}); });
}

void supervisor::leave() {
  for (auto& [feed, result] : suspended_runs_)
    feed->finish(std::move(result));
  suspended_runs_.clear();
  for (const auto& told : std::exchange(suspended_, {}))
    told();
  for (const auto& back : std::exchange(stashed_, {}))
    back();
  quit();
}

bool supervisor::blocked() const {
  const auto being_answered = [](const auto& entry) { return entry.second.done != nullptr; };
  if (questions_.empty() || !early_answers_.empty() ||
      std::any_of(questions_.begin(), questions_.end(), being_answered))
    return false;
  for (const auto& [number, agent] : members_) {
    const bool rests = number == 0 && !run_;
    if (!rests && (agent.open_calls == 0 || agent.open_calls > agent.asking + agent.children))
      return false;
  }
  return queued_tasks_.empty() || running_tasks_ >= max_background();
}

void supervisor::suspend_when_blocked() {
  if (last_request_ && last_request_->suspend_on_question && blocked())
    suspend(outcome::make_failed(errc::needs_input, "The run waits for an answer."), {});
}

} // namespace troupe::actors
