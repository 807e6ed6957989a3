// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>
#include <troupe/runtime/json_schema.hpp>

namespace troupe::actors {

void supervisor::route_hint(const steer_agents& steer) {
  if (!ready(
          steer, [this](const steer_agents& s) { route_hint(s); }, default_open()))
    return;
  auto reply = [&steer](const error& why) {
    if (steer.done)
      steer.done(why);
  };
  if (store_fault_) {
    send(owner_, supervisor_idle{session_});
    return reply(*store_fault_);
  }
  if (seq_ == 0 && !run_) {
    send(owner_, supervisor_idle{session_});
    return reply({errc::not_found, "There is no session '" + session_.str() + "'."});
  }
  if (quiet())
    arm_idle();
  if (lost_ && lost_->under_way())
    return write_hint(steer);
  if (!steer.agent) {
    ensure_root();
    for (auto& [number, agent] : members_)
      if (number != 0)
        hint_to(number, {session_, {}, steer.text, steer.by, nullptr, true});
    return hint_to(0, steer);
  }
  session_id session;
  agent_number number = 0;
  if (!split_agent_id(*steer.agent, session, number) || session != session_ || number >= next_number_)
    return reply({errc::not_found,
                  "There is no agent '" + steer.agent->str() + "' in session '" + session_.str() + "'."});
  ensure_root();
  // An agent that has ended takes no hints: they go to the root.
  hint_to(members_.contains(number) ? number : 0, steer);
}

// The root that takes it is not alive before the run is taken up.
void supervisor::write_hint(const steer_agents& steer) {
  auto decided = decide(agent_profile{}, *restored_root_, input::steer{steer.text, steer.by});
  auto batch = std::make_shared<event_batch>(
      make_events(decided, lost_->root_origin, *restored_root_, environment_->wall_clock()));
  for (const auto& e : *batch)
    apply_to(*restored_root_, e);
  publish(batch);
  if (steer.done)
    when_durable([told = steer.done] { told(ok()); }, [told = steer.done](const error& why) { told(why); });
}

void supervisor::hint_to(agent_number number, const steer_agents& hint) {
  auto& agent = members_.at(number);
  agent.hints.push_back(hint);
  tell(number, input::steer{hint.text, hint.by});
}

void supervisor::route_answer(const answer_question& answer) {
  if (!ready(
          answer, [this](const answer_question& a) { route_answer(a); }, default_open()))
    return;
  auto question = questions_.find(answer.question);
  agent_number number = 0;
  auto reply = [&answer](status s) {
    if (answer.done)
      answer.done(std::move(s));
  };
  if (store_fault_)
    return reply(*store_fault_);
  if (question == questions_.end() || !agent_of_call(answer.question, number))
    return reply(error{errc::not_found, "There is no open question '" + answer.question.str() + "'."});
  if (!question->second.asked.schema.is_null()) {
    auto schema = json_schema::compile(question->second.asked.schema);
    if (schema)
      if (auto fits = schema->validate(answer.value, errc::bad_arguments, "The answer"); !fits)
        return reply(fits);
  }
  if (question->second.done)
    return reply(error{errc::busy, "Another answer to this question is on its way."});
  if (!members_.contains(number) && is_coming_back(number)) {
    early_answers_.push_back(answer);
    return;
  }
  if (!members_.contains(number))
    return reply(
        error{errc::interrupted, "The run that asks has to be resumed before it can take the answer."});
  question->second.done = answer.done ? answer.done : [](const status&) {};
  tell(number, input::answer{answer.question, answer.value, answer.by});
}

// An agent of what is being resumed: a child that the root has not yet asked for, or background work.
bool supervisor::is_coming_back(agent_number number) const {
  if (early_answers_.size() > questions_.size())
    return false;
  return taking_up_ ||
         (run_ && std::any_of(lost_children_.begin(), lost_children_.end(),
                              [number](const auto& entry) { return entry.second.state.number == number; }));
}

void supervisor::take_early_answers() {
  for (const auto& answer : std::exchange(early_answers_, {}))
    route_answer(answer);
}

void supervisor::close_question(const call_id& id, status result) {
  auto question = questions_.extract(id);
  if (question.empty())
    return;
  agent_number asker = 0;
  if (agent_of_call(id, asker))
    deadlines_.clear({asker, timer_kind::question, question.mapped().number});
  if (auto answered = std::move(question.mapped().done))
    when_durable([answered, result] { answered(result); }, [answered](const error& why) { answered(why); });
}

// The agent has ended otherwise than by its own word.
void supervisor::close_questions_of(agent_number number) {
  std::vector<call_id> open;
  for (const auto& [id, question] : questions_)
    if (agent_number asker = 0; agent_of_call(id, asker) && asker == number)
      open.push_back(id);
  for (const auto& id : open)
    close_question(id, error{errc::not_found, "The question was withdrawn."});
}

void supervisor::route_cancel(const cancel_agents& cancel) {
  if (phase_ == phase::closed)
    return;
  if (!ready(
          cancel, [this](const cancel_agents& c) { route_cancel(c); }, default_open()))
    return;
  agent_number number = 0;
  session_id session;
  if (cancel.agent && (!split_agent_id(*cancel.agent, session, number) || session != session_))
    return;
  if (!cancel.agent)
    for (auto& next : std::exchange(waiting_, {})) {
      next.feed->finish(outcome::make_cancelled(cancel.by));
      send(owner_, work_done{session_});
    }
  if (number != 0 || run_)
    tell(number, input::cancel{cancel.by});
  if (!cancel.agent && resuming_) {
    auto next = std::move(*resuming_);
    resuming_.reset();
    finish_when_durable(std::move(next.feed), outcome::make_cancelled(cancel.by));
  }
  if (cancel.background) {
    no_wake_ = true;
    cancel_tasks(cancel.by);
  }
}

} // namespace troupe::actors
