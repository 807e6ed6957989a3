// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>

namespace troupe::actors {
namespace {

constexpr std::uint32_t enough_starting = 8; // children: then agents hold further commands back

void count_calls(member& agent, const agent_state& state) {
  agent.events = state.events;
  agent.open_calls = state.open;
}

} // namespace

member& supervisor::add_member(agent_number number, member agent, agent_start start) {
  start.number = number;
  start.hops = last_request_ ? last_request_->hops : 0;
  if (start.begin != nullptr) {
    agent.starting = true;
    ++starting_;
  }
  agent.handle = spawn_agent(this, std::move(start));
  by_actor_.emplace(agent.handle.id(), number);
  return members_.insert_or_assign(number, std::move(agent)).first->second;
}

void supervisor::take_step(const agent_step& step) {
  auto found = members_.find(step.agent);
  if (found == members_.end())
    return;
  const measured_message measured{&environment_->observed->supervisors, step.sent};
  if (step.events) {
    if (std::exchange(found->second.starting, false))
      --starting_;
    found->second.events = step.events->back().index;
    publish(step.events);
    note_events(found->second, *step.events);
  }
  if (step.waiting_for) {
    collector_.note_waiting(found->second.origin, *step.waiting_for);
    send_activity();
  }
  for (const auto& c : step.commands)
    std::visit([this, number = step.agent](const auto& x) { carry_out(number, x); }, c);
  if (step.holds_back)
    holding_back_.push_back(step.agent);
  want_commands();
  if (!questions_.empty())
    suspend_when_blocked();
}

void supervisor::want_commands() {
  if (holding_back_.empty() || starting_ > enough_starting)
    return;
  for (auto number : std::exchange(holding_back_, {}))
    if (auto found = members_.find(number); found != members_.end())
      send(found->second.handle, commands_wanted{});
}

void supervisor::note_events(member& agent, const event_batch& batch) {
  for (const auto& e : batch) {
    if (e.kind() == event_kind::steering && !agent.hints.empty()) {
      auto hint = std::move(agent.hints.front());
      agent.hints.erase(agent.hints.begin());
      if (hint.copied)
        agent.copied_hints.push_back(hint.text);
      if (hint.done)
        when_durable([done = hint.done] { done(ok()); }, [done = hint.done](const error& why) { done(why); });
    } else if (const auto* question = e.as<question_body>()) {
      questions_[question->question] = {*question, next_question_++, nullptr};
    } else if (const auto* answer = e.as<answer_body>()) {
      close_question(answer->question, ok());
    } else {
      note_call(agent, e);
    }
  }
}

void supervisor::note_call(member& agent, const event& e) {
  if (e.kind() == event_kind::tool_call) {
    ++agent.open_calls;
  } else if (const auto* r = e.as<tool_result_body>()) {
    if (agent.open_calls > 0)
      --agent.open_calls;
    if (!ended_children_.empty())
      ended_children_.erase(r->call);
  } else if (const auto* result = e.as<background_result_body>()) {
    note_delivered(result->task);
  } else if (const auto* delivered = e.as<delivered_body>()) {
    if (e.origin->number == 0)
      pending_results_ -= std::min(pending_results_, delivered->background_results);
  } else if (const auto* state = e.as<state_body>()) {
    note_shared(*state);
  }
}

// What an agent writes is there for agents that start later.
void supervisor::note_shared(const state_body& write) {
  if (write.found || !is_shared(write.key))
    return;
  std::erase_if(shared_state_, [&write](const auto& entry) { return entry.first == write.key; });
  if (!write.value.is_null())
    shared_state_.emplace_back(write.key, write.value);
}

bool supervisor::found_again(agent_number parent, const command::start_child& c) {
  if (auto known = tasks_.find(c.call); known != tasks_.end()) {
    const auto& t = known->second;
    tell(parent, input::launched{c.call, t.name, t.model, t.child == 0 && !t.ended});
    return true;
  }
  if (by_call_.contains(c.call))
    return true;
  if (auto ended = ended_children_.find(c.call); ended != ended_children_.end()) {
    tell(parent, ended->second);
    return true;
  }
  auto lost = lost_children_.extract(c.call);
  if (lost.empty())
    return false;
  auto& child = lost.mapped();
  if (child.ended)
    tell(parent, input::child_done{c.call, child.started.name, child.started.model,
                                   child.started.kind == "spawned", *child.ended});
  else
    restore_child(std::move(child), c.profile, run_->budget, run_->request->answerable);
  return true;
}

void supervisor::carry_out(agent_number parent, const command::start_child& c) {
  if (!run_ || found_again(parent, c))
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
  if (c.background)
    return launch_task(parent, c);
  start_child(parent, c);
}

std::shared_ptr<event_origin> supervisor::child_origin(agent_number number, const call_id& call,
                                                       const std::string& name, const run_id& run) const {
  auto origin = std::make_shared<event_origin>();
  origin->session = session_;
  origin->run = run;
  origin->agent = make_agent_id(session_, number);
  origin->number = number;
  origin->author = name;
  auto root = members_.find(0);
  const auto& above = root != members_.end() ? root->second.origin->branch : idle_origin()->branch;
  origin->branch = above + "." + name + "@" + call.str();
  origin->parent_call = call;
  return origin;
}

void supervisor::start_child(agent_number parent, const command::start_child& c) {
  const auto& profile = *c.profile;
  const auto number = next_number_++;
  auto origin = child_origin(number, c.call, profile.name, run_->origin->run);
  auto begin = std::make_shared<input::start>();
  begin->request = c.request;
  begin->kind = profile.kind;
  begin->parent = parent;
  begin->shared = shared_state_;
  member child;
  child.origin = origin;
  child.model = profile.model;
  child.kind = profile.kind;
  child.parent = parent;
  child.call = c.call;
  by_call_.emplace(c.call, number);
  ++members_.at(parent).children;
  agent_start start;
  start.context = context_;
  start.profile = c.profile;
  start.origin = std::move(origin);
  start.begin = std::move(begin);
  start.budget = run_->budget;
  start.answerable = run_->request->answerable;
  add_member(number, std::move(child), std::move(start));
}

void supervisor::show_restored(const event_origin_ptr& origin, agent_started_body started,
                               const agent_state& state) {
  std::vector<question_body> open;
  for (const auto& [id, question] : questions_)
    if (agent_number asker = 0; agent_of_call(id, asker) && asker == state.number)
      open.push_back(question.asked);
  collector_.restore(origin, std::move(started), state, open, environment_->wall_clock());
  send_activity();
}

void supervisor::restore_child(folded_child child, const agent_profile_ptr& profile,
                               const std::shared_ptr<run_budget>& budget, bool answerable) {
  const auto number = child.state.number;
  member again;
  again.origin = child.origin;
  again.model = child.started.model;
  again.kind = child.started.kind;
  again.parent = child.started.parent;
  again.call = child.origin->parent_call;
  again.background = child.started.background;
  count_calls(again, child.state);
  show_restored(child.origin, child.started, child.state);
  by_call_.emplace(again.call, number);
  if (auto parent = members_.find(again.parent); parent != members_.end() && !again.background)
    ++parent->second.children;
  agent_start start;
  start.context = context_;
  start.profile = profile;
  start.origin = child.origin;
  start.budget = budget;
  start.answerable = answerable;
  start.restored = std::make_shared<agent_state>(std::move(child.state));
  start.resume = true;
  add_member(number, std::move(again), std::move(start));
  if (!early_answers_.empty())
    take_early_answers();
}

void supervisor::carry_out(agent_number, const command::cancel_child& c) {
  if (auto found = by_call_.find(c.call); found != by_call_.end())
    tell(found->second, input::cancel{c.by});
}

// What starts here may have an effect outside: that it starts is durable first.
void supervisor::carry_out(agent_number number, const command::await_durability& c) {
  when_durable([this, number, calls = c.calls] { tell(number, input::durable{calls}); });
}

void supervisor::carry_out(agent_number number, const command::ask& c) {
  ++members_.at(number).asking;
  if (auto question = questions_.find(c.question); question != questions_.end() && last_request_)
    deadlines_.set({number, timer_kind::question, question->second.number},
                   actor_time(this) + last_request_->question_timeout);
  for_ancestors(number, [this](agent_number n, member& agent) {
    if (agent.paused++ > 0)
      return;
    for (auto kind : {timer_kind::run, timer_kind::grace})
      if (auto left = deadlines_.take(key_of(n, kind), actor_time(this)))
        agent.left_of(kind) = *left;
  });
  schedule();
}

void supervisor::carry_out(agent_number number, const command::question_closed& c) {
  if (auto agent = members_.find(number); agent != members_.end() && agent->second.asking > 0)
    --agent->second.asking;
  close_question(c.question, error{errc::not_found, "The question was withdrawn."});
  for_ancestors(number, [this](agent_number n, member& agent) {
    if (agent.paused == 0 || --agent.paused > 0)
      return;
    for (auto kind : {timer_kind::run, timer_kind::grace})
      if (auto left = std::exchange(agent.left_of(kind), {}))
        deadlines_.set(key_of(n, kind), actor_time(this) + *left);
  });
  schedule();
}

void supervisor::carry_out(agent_number number, const command::set_deadline& c) {
  auto& agent = members_.at(number);
  const auto key = key_of(number, c.kind);
  if (agent.paused > 0) {
    agent.left_of(std::get<timer_kind>(key)) = c.after;
    return;
  }
  deadlines_.set(key, actor_time(this) + c.after);
  schedule();
}

void supervisor::carry_out(agent_number number, const command::clear_deadline& c) {
  const auto key = key_of(number, c.kind);
  deadlines_.clear(key);
  members_.at(number).left_of(std::get<timer_kind>(key)).reset();
}

void supervisor::carry_out(agent_number number, const command::finish& c) {
  if (number == 0)
    return end_run(c.outcome);
  if (auto found = members_.find(number); found != members_.end()) {
    auto& agent = found->second;
    for (const auto& hint : c.hints) {
      const auto copy = std::find(agent.copied_hints.begin(), agent.copied_hints.end(), hint.text);
      if (copy != agent.copied_hints.end())
        agent.copied_hints.erase(copy);
      else
        agent.hints.push_back({session_, {}, hint.text, hint.by, nullptr, false});
    }
  }
  end_child(number, c.outcome);
}

void supervisor::end_child(agent_number number, const outcome& result) {
  auto node = members_.extract(number);
  if (node.empty())
    return;
  auto& child = node.mapped();
  if (child.starting) {
    --starting_;
    want_commands();
  }
  by_actor_.erase(child.handle.id());
  by_call_.erase(child.call);
  deadlines_.clear(key_of(number, timer_kind::run));
  deadlines_.clear(key_of(number, timer_kind::grace));
  if (child.background) {
    end_task(child.call, result);
  } else {
    if (auto parent = members_.find(child.parent); parent != members_.end() && parent->second.children > 0)
      --parent->second.children;
    input::child_done report{child.call, child.origin->author, child.model, child.kind == "spawned", result};
    if (child.parent == 0)
      ended_children_.insert_or_assign(child.call, report);
    tell(child.parent, std::move(report));
  }
  for (auto& hint : child.hints)
    if (!hint.copied)
      root_hints_.push_back(std::move(hint));
  if (phase_ == phase::open)
    take_root_hints();
}

void supervisor::take_root_hints() {
  if (root_hints_.empty())
    return;
  ensure_root();
  for (const auto& hint : std::exchange(root_hints_, {}))
    hint_to(0, hint);
}

void supervisor::tell(agent_number number, agent_input in) {
  if (auto found = members_.find(number); found != members_.end())
    send(found->second.handle, feed_input{std::make_shared<const agent_input>(std::move(in))});
}

void supervisor::agent_down(const caf::down_msg& down) {
  if (environment_->journal && down.source == environment_->journal.address())
    return fail_store({errc::store_failed, "The journal has ended: " + home_system().render(down.reason)});
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
  for (auto& hint : root.hints) {
    if (run_)
      root_hints_.push_back(std::move(hint));
    else if (hint.done)
      hint.done(error{errc::crashed, why});
  }
  // An answer that was on its way to it has to be given again.
  for (auto& [id, question] : questions_)
    if (agent_number asker = 1; agent_of_call(id, asker) && asker == 0 && question.done)
      std::exchange(question.done, nullptr)(error{errc::crashed, why});
  if (run_) {
    write_for(root, {error_body{errc::crashed, why}});
    const auto time = actor_time(this);
    std::erase_if(root_restarts_,
                  [&](steady_time t) { return t + environment_->options.restart_window < time; });
    if (root_restarts_.size() >= environment_->options.max_root_restarts)
      giving_up_ = why;
    root_restarts_.push_back(time);
  }
  read_log(std::nullopt);
}

void supervisor::rebuild_root(std::shared_ptr<agent_state> restored) {
  restored_root_ = restored->events > 0 ? std::move(restored) : nullptr;
  if (giving_up_)
    give_up_root(*std::exchange(giving_up_, std::nullopt));
  else if (run_)
    restart_root();
  for (const auto& [id, t] : tasks_)
    if (t.ended && !t.delivered)
      deliver(id);
  take_root_hints();
}

void supervisor::restart_root() {
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
  again.model = run_->request->root->model;
  if (start.restored)
    count_calls(again, *start.restored);
  for (const auto& [number, child] : members_)
    again.children += child.background ? 0 : 1;
  const bool started = start.restored && start.restored->phase != agent_phase::idle;
  add_member(0, std::move(again), std::move(start));
  if (!started)
    start_root();
  if (!early_answers_.empty())
    take_early_answers();
}

void supervisor::give_up_root(const std::string& why) {
  auto result = outcome::make_failed(errc::crashed, why);
  for (auto& [number, child] : members_)
    if (!child.background)
      tell(number, input::cancel{"crash of the root"});
  for (auto& hint : std::exchange(root_hints_, {}))
    if (hint.done)
      hint.done(error{errc::crashed, why});
  if (restored_root_ && restored_root_->phase != agent_phase::idle) {
    close_root(why, errc::crashed, run_->origin);
  } else {
    member gone;
    gone.origin = run_->origin;
    gone.events = restored_root_ ? restored_root_->events : 0;
    write_for(gone, {agent_ended_body{result, 0}});
  }
  end_run(std::move(result));
}

} // namespace troupe::actors
