// Background work: fire-and-forget children of the root, whose results it gets later.
//
// A task is launched by a call, which has its result at once, and ends with the agent_ended of its child. What has ended
// and is not yet in the root's log is the outbox; it is a fold of the log, so it survives as the log does.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>
#include <troupe/runtime/internal/delegate.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>

namespace troupe::actors {
namespace {

task_status status_of(const task& t) {
  if (!t.ended)
    return t.child == 0 ? task_status::queued : task_status::running;
  if (t.ended->completed())
    return task_status::completed;
  return t.ended->cancelled() ? task_status::cancelled : task_status::failed;
}

nlohmann::json to_json_value(const background_task& t) {
  nlohmann::json j = {{"task_id", t.task.str()}, {"name", t.name}, {"model", t.model}};
  j["status"] = to_string(t.status);
  return j;
}

} // namespace

void supervisor::launch_task(agent_number parent, const command::start_child& c) {
  task t;
  t.order = next_task_++;
  t.name = c.profile->name;
  t.model = c.profile->model;
  t.profile = c.profile;
  t.request = c.request;
  t.run = run_->origin->run;
  t.budget = run_->budget;
  t.answerable = run_->request->answerable;
  const bool queued = running_tasks_ >= run_->request->limits.max_background;
  input::launched answer{c.call, t.name, t.model, queued};
  tasks_.insert_or_assign(c.call, std::move(t));
  send(owner_, work_begun{session_});
  if (queued)
    queued_tasks_.push_back(c.call);
  else
    start_task(c.call);
  tell(parent, std::move(answer));
}

void supervisor::start_task(const call_id& id) {
  auto& t = tasks_.at(id);
  const auto number = next_number_++;
  t.child = number;
  ++running_tasks_;
  auto origin = child_origin(number, id, t.name, t.run);
  auto begin = std::make_shared<input::start>();
  begin->request = t.request;
  begin->kind = t.profile->kind;
  begin->background = true;
  begin->shared = shared_state_;
  member child;
  child.origin = origin;
  child.model = t.model;
  child.kind = t.profile->kind;
  child.call = id;
  child.background = true;
  by_call_.emplace(id, number);
  agent_start start;
  start.context = context_;
  start.profile = t.profile;
  start.origin = std::move(origin);
  start.begin = std::move(begin);
  start.budget = t.budget;
  start.answerable = t.answerable;
  add_member(number, std::move(child), std::move(start));
}

std::uint32_t supervisor::max_background() const {
  return last_request_ ? last_request_->limits.max_background : run_limits{}.max_background;
}

void supervisor::start_queued() {
  while (!queued_tasks_.empty() && running_tasks_ < max_background()) {
    auto id = std::move(queued_tasks_.front());
    queued_tasks_.pop_front();
    start_task(id);
  }
}

void supervisor::end_task(const call_id& id, const outcome& result) {
  auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second.ended)
    return;
  if (found->second.child != 0)
    --running_tasks_;
  found->second.ended = result;
  ++undelivered_;
  deliver(id);
  start_queued();
}

void supervisor::close_task(const call_id& id, const outcome& result) {
  auto& t = tasks_.at(id);
  std::erase(queued_tasks_, id);
  member gone;
  gone.origin = child_origin(next_number_++, id, t.name, t.run);
  write_for(gone, {agent_started_body{t.name, "spawned", t.model, 0, true}, agent_ended_body{result, 0}});
  end_task(id, result);
}

void supervisor::deliver(const call_id& id) {
  if (phase_ != phase::open)
    return; // the root is being rebuilt and gets it afterwards
  ensure_root();
  const auto& t = tasks_.at(id);
  tell(0, input::background_result{{id, t.name, *t.ended}});
}

void supervisor::note_delivered(const call_id& id) {
  ++pending_results_;
  auto found = tasks_.find(id);
  const bool counted = found != tasks_.end() && !found->second.delivered;
  if (counted) {
    found->second.delivered = true;
    found->second.profile.reset();
    found->second.request.reset();
    --undelivered_;
    delivered_tasks_.push_back(id);
    forget_tasks();
  }
  // What it sets in motion counts as work before the task no longer does.
  if (!run_)
    begin_next();
  if (counted)
    when_durable([this] { send(owner_, work_done{session_}); });
}

void supervisor::forget_tasks() {
  while (delivered_tasks_.size() > environment_->options.keep_tasks) {
    tasks_.erase(delivered_tasks_.front());
    delivered_tasks_.pop_front();
  }
}

void supervisor::cancel_tasks(const std::string& by) {
  std::vector<call_id> live;
  for (const auto& [id, t] : tasks_)
    if (!t.ended)
      live.push_back(id);
  for (const auto& id : live)
    static_cast<void>(cancel_task(id, by));
}

result<task_status> supervisor::cancel_task(const call_id& id, const std::string& by) {
  auto found = tasks_.find(id);
  const auto is_it = [&id](const folded_task& t) { return t.task == id; };
  if (found == tasks_.end() && lost_ && std::any_of(lost_->tasks.begin(), lost_->tasks.end(), is_it))
    return error{errc::interrupted,
                 "The session has to be resumed before its background work can be cancelled."};
  if (found == tasks_.end())
    return error{errc::not_found, "There is no background task '" + id.str() + "'."};
  const auto was = status_of(found->second);
  if (was == task_status::queued)
    close_task(id, outcome::make_cancelled(by));
  else if (was == task_status::running)
    tell(found->second.child, input::cancel{by});
  return was;
}

void supervisor::restore_tasks(const agent_profile& root, bool answerable) {
  for (const auto& folded : lost_->tasks)
    restore_task(folded, root, answerable);
  start_queued();
}

void supervisor::restore_task(const folded_task& folded, const agent_profile& root, bool answerable) {
  task t;
  t.order = next_task_++;
  t.name = folded.name;
  t.run = folded.run;
  t.answerable = answerable;
  auto arguments = parse_json(folded.arguments);
  result<child_order> order = error{errc::lost, "The call that started it is not in the log."};
  if (root.delegates != nullptr && arguments && arguments->is_object())
    order = order_spawn(root, *arguments, {});
  if (order) {
    t.profile = order->profile;
    t.request = order->request;
    t.model = order->profile->model;
  }
  auto child = lost_->children.extract(folded.child);
  if (!child.empty())
    t.model = child.mapped().started.model;
  tasks_.insert_or_assign(folded.task, std::move(t));
  send(owner_, work_begun{session_});
  if (folded.ended)
    return end_task(folded.task, *folded.ended);
  if (!order) {
    const auto lost =
        outcome::make_failed(errc::lost, "The agent cannot be made again: " + order.failure().message);
    if (child.empty())
      return close_task(folded.task, lost);
    member gone;
    gone.origin = child.mapped().origin;
    gone.events = child.mapped().state.events;
    write_for(gone, {agent_ended_body{lost, child.mapped().state.run_turns}});
    close_questions_of(folded.child);
    return end_task(folded.task, lost);
  }
  if (child.empty()) {
    queued_tasks_.push_back(folded.task);
    return;
  }
  tasks_.at(folded.task).child = folded.child;
  ++running_tasks_;
  restore_child(std::move(child.mapped()), order->profile, nullptr, answerable);
}

std::vector<background_task> supervisor::list_tasks() const {
  std::vector<std::pair<std::uint64_t, background_task>> ordered;
  for (const auto& [id, t] : tasks_)
    ordered.push_back({t.order, {id, t.name, t.model, status_of(t), t.ended, t.delivered}});
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<background_task> list;
  if (lost_)
    for (const auto& t : lost_->tasks)
      list.push_back(
          {t.task, t.name, {}, t.child == 0 ? task_status::queued : task_status::running, t.ended, false});
  for (auto& [order, t] : ordered)
    list.push_back(std::move(t));
  return list;
}

void supervisor::answer_query(const query_tasks& query) {
  if (!ready(
          query, [this](const query_tasks& q) { answer_query(q); }, default_open()))
    return;
  if (store_fault_)
    return query.done(*store_fault_);
  if (query.cancel)
    if (auto was = cancel_task(*query.cancel, query.by); !was)
      return query.done(was.failure());
  query.done(list_tasks());
}

void supervisor::carry_out(agent_number number, const command::manage_tasks& c) {
  if (!c.cancel) {
    auto list = nlohmann::json::array();
    for (const auto& t : list_tasks())
      list.push_back(to_json_value(t));
    return tell(number, input::tool_done{c.call, {dump_json(list), {}, {}}});
  }
  auto was = cancel_task(*c.cancel, run_ ? run_->origin->author : "root");
  if (!was)
    return tell(number,
                input::tool_done{c.call, tool_result::failure(errc::not_found, was.failure().message)});
  const bool running = *was == task_status::running;
  const auto now =
      running ? std::string{"cancelling"} : std::string{to_string(status_of(tasks_.at(*c.cancel)))};
  const nlohmann::json answer = {{"task_id", c.cancel->str()}, {"status", now}};
  tell(number, input::tool_done{c.call, {dump_json(answer), {}, {}}});
}

} // namespace troupe::actors
