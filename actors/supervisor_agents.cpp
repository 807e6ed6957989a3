// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>

namespace troupe::actors {

member& supervisor::add_member(agent_number number, member agent, agent_start start) {
  start.number = number;
  agent.handle = spawn_agent(this, std::move(start));
  by_actor_.emplace(agent.handle.id(), number);
  return members_.insert_or_assign(number, std::move(agent)).first->second;
}

void supervisor::take_step(const agent_step& step) {
  auto found = members_.find(step.agent);
  if (found == members_.end())
    return;
  if (step.events) {
    found->second.events = step.events->back().index;
    publish(step.events);
    note_events(found->second, *step.events);
  }
  for (const auto& c : step.commands)
    std::visit([this, number = step.agent](const auto& x) { carry_out(number, x); }, c);
}

void supervisor::note_events(member& agent, const event_batch& batch) {
  for (const auto& e : batch) {
    if (e.kind() == event_kind::steering && !agent.hints.empty()) {
      auto hint = std::move(agent.hints.front());
      agent.hints.pop_front();
      if (hint.done)
        hint.done(ok());
    } else if (const auto* question = e.as<question_body>()) {
      questions_[question->question] = {question->schema, nullptr};
    } else if (const auto* answer = e.as<answer_body>()) {
      close_question(answer->question, ok());
    } else if (const auto* r = e.as<tool_result_body>()) {
      if (!ended_children_.empty())
        ended_children_.erase(r->call);
    }
  }
}

void supervisor::carry_out(agent_number parent, const command::start_child& c) {
  if (!run_)
    return;
  const auto& profile = *c.profile;
  if (run_->children >= run_->request->limits.max_children) {
    tell(parent,
         input::child_done{
             c.call, profile.name, profile.model, profile.kind == "spawned",
             outcome::make_failed(errc::max_children, "The run may start " +
                                                          std::to_string(run_->request->limits.max_children) +
                                                          " children.")});
    return;
  }
  ++run_->children;
  const auto number = next_number_++;
  auto origin = std::make_shared<event_origin>();
  origin->session = session_;
  origin->run = run_->origin->run;
  origin->agent = make_agent_id(session_, number);
  origin->number = number;
  origin->author = profile.name;
  origin->branch = members_.at(parent).origin->branch + "." + profile.name + "@" + c.call.str();
  origin->parent_call = c.call;
  auto begin = std::make_shared<input::start>();
  begin->request = c.request;
  begin->kind = profile.kind;
  begin->parent = parent;
  member child;
  child.origin = origin;
  child.model = profile.model;
  child.kind = profile.kind;
  child.parent = parent;
  child.call = c.call;
  by_call_.emplace(c.call, number);
  agent_start start;
  start.context = context_;
  start.profile = c.profile;
  start.origin = std::move(origin);
  start.begin = std::move(begin);
  start.budget = run_->budget;
  start.answerable = run_->request->answerable;
  add_member(number, std::move(child), std::move(start));
}

void supervisor::carry_out(agent_number, const command::cancel_child& c) {
  if (auto found = by_call_.find(c.call); found != by_call_.end())
    tell(found->second, input::cancel{c.by});
}

void supervisor::carry_out(agent_number number, const command::ask&) {
  for_ancestors(number, [this](agent_number n, member& agent) {
    if (agent.paused++ > 0)
      return;
    for (auto kind : {timer_kind::run, timer_kind::grace})
      if (auto left = deadlines_.take({n, kind}, actor_time(this)))
        agent.left[kind] = *left;
  });
}

void supervisor::carry_out(agent_number number, const command::question_closed& c) {
  close_question(c.question, error{errc::not_found, "The question was withdrawn."});
  for_ancestors(number, [this](agent_number n, member& agent) {
    if (agent.paused == 0 || --agent.paused > 0)
      return;
    for (const auto& [kind, left] : std::exchange(agent.left, {}))
      deadlines_.set({n, kind}, actor_time(this) + left);
  });
  schedule();
}

void supervisor::carry_out(agent_number number, const command::set_deadline& c) {
  auto& agent = members_.at(number);
  if (agent.paused > 0) {
    agent.left[to_timer(c.kind)] = c.after;
    return;
  }
  deadlines_.set({number, to_timer(c.kind)}, actor_time(this) + c.after);
  schedule();
}

void supervisor::carry_out(agent_number number, const command::clear_deadline& c) {
  deadlines_.clear({number, to_timer(c.kind)});
  members_.at(number).left.erase(to_timer(c.kind));
}

void supervisor::carry_out(agent_number number, const command::finish& c) {
  if (number == 0)
    return end_run(c.outcome);
  if (auto found = members_.find(number); found != members_.end())
    for (const auto& hint : c.hints)
      found->second.hints.push_back({session_, {}, hint.text, hint.by, nullptr});
  end_child(number, c.outcome);
}

void supervisor::end_child(agent_number number, const outcome& result) {
  auto node = members_.extract(number);
  if (node.empty())
    return;
  auto& child = node.mapped();
  by_actor_.erase(child.handle.id());
  by_call_.erase(child.call);
  deadlines_.clear({number, timer_kind::run});
  deadlines_.clear({number, timer_kind::grace});
  input::child_done report{child.call, child.origin->author, child.model, child.kind == "spawned", result};
  if (child.parent == 0)
    ended_children_.insert_or_assign(child.call, report);
  tell(child.parent, std::move(report));
  if (!child.hints.empty())
    ensure_root();
  for (auto& hint : child.hints)
    hint_to(0, hint);
}

void supervisor::tell(agent_number number, agent_input in) {
  if (auto found = members_.find(number); found != members_.end())
    send(found->second.handle, feed_input{std::make_shared<const agent_input>(std::move(in))});
}

void supervisor::agent_down(const caf::down_msg& down) {
  auto found = by_actor_.find(down.source.id());
  if (found == by_actor_.end())
    return;
  const auto number = found->second;
  by_actor_.erase(found);
  auto why = home_system().render(down.reason);
  if (number != 0)
    return child_crashed(number, "The agent crashed: " + why);
  root_crashed("The root agent crashed: " + why);
}

void supervisor::child_crashed(agent_number number, const std::string& why) {
  // Its questions go with it, and with them the pause of its ancestors' clocks.
  std::vector<call_id> open;
  for (const auto& [question, unused] : questions_)
    if (agent_number asker = 0; agent_of_call(question, asker) && asker == number)
      open.push_back(question);
  for (const auto& question : open)
    carry_out(number, command::question_closed{question});
  auto& child = members_.at(number);
  auto result = outcome::make_failed(errc::crashed, why);
  write_for(child, {error_body{errc::crashed, why}, agent_ended_body{result, 0}});
  end_child(number, result);
}

void supervisor::root_crashed(const std::string& why) {
  auto node = members_.extract(0);
  auto& root = node.mapped();
  if (!run_) {
    for (auto& hint : root.hints)
      if (hint.done)
        hint.done(error{errc::crashed, why});
    return load_root_state();
  }
  const auto time = actor_time(this);
  std::erase_if(root_restarts_,
                [&](steady_time t) { return t + environment_->options.restart_window < time; });
  write_for(root, {error_body{errc::crashed, why}});
  if (root_restarts_.size() >= environment_->options.max_root_restarts)
    return give_up_root(root, why);
  root_restarts_.push_back(time);
  load_root_state();
  agent_start start;
  start.context = context_;
  start.profile = run_->request->root;
  start.origin = run_->origin;
  start.budget = run_->budget;
  start.answerable = run_->request->answerable;
  start.restored = std::exchange(restored_root_, nullptr);
  start.resume = true;
  member again;
  again.origin = run_->origin;
  again.kind = "root";
  again.model = root.model;
  again.events = root.events;
  again.hints = std::move(root.hints);
  auto hints = again.hints;
  const bool started = start.restored && start.restored->phase != agent_phase::idle;
  add_member(0, std::move(again), std::move(start));
  if (!started)
    start_root();
  for (const auto& [call, report] : ended_children_)
    tell(0, report);
  for (const auto& hint : hints)
    tell(0, input::steer{hint.text, hint.by});
}

void supervisor::give_up_root(member& root, const std::string& why) {
  auto result = outcome::make_failed(errc::crashed, why);
  for (auto& [number, child] : members_)
    tell(number, input::cancel{"crash of the root"});
  for (auto& hint : root.hints)
    if (hint.done)
      hint.done(error{errc::crashed, why});
  load_root_state();
  if (restored_root_ && restored_root_->phase != agent_phase::idle)
    close_root(why, errc::crashed, run_->origin);
  else
    write_for(root, {agent_ended_body{result, 0}});
  end_run(std::move(result));
}

void supervisor::load_root_state() {
  const auto number = next_number_;
  const auto run = next_run_;
  load();
  next_number_ = number;
  next_run_ = run;
}

} // namespace troupe::actors
