// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>
#include <troupe/runtime/json_schema.hpp>

namespace troupe::actors {

void supervisor::route_hint(const steer_agents& steer) {
  send(owner_, work_done{session_});
  if (!run_)
    arm_idle();
  if (!steer.agent) {
    ensure_root();
    auto copy = steer;
    for (auto& [number, agent] : members_) {
      if (number != 0)
        hint_to(number, {session_, {}, steer.text, steer.by, nullptr});
    }
    return hint_to(0, copy);
  }
  session_id session;
  agent_number number = 0;
  if (!split_agent_id(*steer.agent, session, number) || session != session_ || number >= next_number_) {
    if (steer.done)
      steer.done(error{errc::not_found, "There is no agent '" + steer.agent->str() + "' in session '" +
                                            session_.str() + "'."});
    return;
  }
  ensure_root();
  // An agent that has ended takes no hints: they go to the root.
  hint_to(members_.contains(number) ? number : 0, steer);
}

void supervisor::hint_to(agent_number number, const steer_agents& hint) {
  auto& agent = members_.at(number);
  agent.hints.push_back(hint);
  tell(number, input::steer{hint.text, hint.by});
}

void supervisor::route_answer(const answer_question& answer) {
  auto question = questions_.find(answer.question);
  agent_number number = 0;
  auto reply = [&answer](status s) {
    if (answer.done)
      answer.done(std::move(s));
  };
  if (question == questions_.end() || !agent_of_call(answer.question, number))
    return reply(error{errc::not_found, "There is no open question '" + answer.question.str() + "'."});
  if (!question->second.schema.is_null()) {
    auto schema = json_schema::compile(question->second.schema);
    if (schema)
      if (auto fits = schema->validate(answer.value, errc::bad_arguments, "The answer"); !fits)
        return reply(fits);
  }
  if (question->second.done)
    return reply(error{errc::busy, "Another answer to this question is on its way."});
  question->second.done = answer.done ? answer.done : [](status) {};
  tell(number, input::answer{answer.question, answer.value, answer.by});
}

void supervisor::close_question(const call_id& id, status result) {
  auto question = questions_.extract(id);
  if (!question.empty() && question.mapped().done)
    question.mapped().done(std::move(result));
}

void supervisor::route_cancel(const cancel_agents& cancel) {
  agent_number number = 0;
  session_id session;
  if (cancel.agent && (!split_agent_id(*cancel.agent, session, number) || session != session_))
    return;
  if (!cancel.agent || number == 0)
    for (auto& next : std::exchange(waiting_, {})) {
      next.feed->finish(outcome::make_cancelled(cancel.by));
      send(owner_, work_done{session_});
    }
  if (run_)
    tell(number, input::cancel{cancel.by});
}

} // namespace troupe::actors
