// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>

namespace troupe::actors {

void supervisor::accept(const start_run& start) {
  deadlines_.clear({0, timer_kind::idle});
  waiting_run next{start.request, std::move(*start.feed)};
  if (store_fault_)
    return refuse(next, errc::store_failed, store_fault_->message);
  if (run_ && start.request->busy == on_busy::reject)
    return refuse(next, errc::busy, "Session '" + session_.str() + "' is busy with another run.");
  if (waiting_.size() >= environment_->options.max_waiting_runs)
    return refuse(next, errc::busy, "Too many runs wait in session '" + session_.str() + "'.");
  waiting_.push_back(std::move(next));
  if (!run_)
    begin_next();
}

void supervisor::refuse(waiting_run& next, errc code, std::string why) {
  next.feed->finish(outcome::make_failed(code, std::move(why)));
  send(owner_, work_done{session_});
}

void supervisor::begin_next() {
  if (waiting_.empty())
    return arm_idle();
  auto next = std::move(waiting_.front());
  waiting_.pop_front();
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
  if (run.request->limits.budget_tokens)
    run.budget = std::make_shared<run_budget>(*run.request->limits.budget_tokens);
  run.feed->begin(origin->run, seq_ + 1);
  run_ = std::move(run);
  root_restarts_.clear();
  start_root();
}

void supervisor::start_root() {
  auto& root = ensure_root();
  root.origin = run_->origin;
  root.model = run_->request->root->model;
  auto start = std::make_shared<input::start>();
  start->request = run_->request->message;
  start->kind = "root";
  send(root.handle, begin_run{run_->request->root, run_->origin, std::move(start), run_->budget,
                              run_->request->answerable});
}

member& supervisor::ensure_root() {
  auto found = members_.find(0);
  if (found != members_.end())
    return found->second;
  agent_start start;
  start.context = context_;
  start.origin = run_ ? run_->origin : idle_origin();
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
  origin->author = "root";
  origin->branch = "root";
  return origin;
}

void supervisor::end_run(outcome result) {
  if (!run_)
    return;
  auto ended = std::move(*run_);
  run_.reset();
  ended_children_.clear();
  send_activity(true);
  ended.feed->finish(std::move(result));
  send(owner_, work_done{session_});
  begin_next();
}

void supervisor::arm_idle() {
  deadlines_.set({0, timer_kind::idle}, actor_time(this) + environment_->options.idle_after);
  schedule();
}

} // namespace troupe::actors
