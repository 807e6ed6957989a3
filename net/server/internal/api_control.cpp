// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/api_control.hpp>
#include <troupe/net/server/internal/web_problem.hpp>

#include <utility>

namespace troupe::net {
namespace {

constexpr const char* by_user = "user";

std::optional<agent_id> agent_of(const session_id& session, std::optional<agent_number> number) {
  return number ? std::optional{make_agent_id(session, *number)} : std::nullopt;
}

std::function<void(status)> when_stored(web_reply reply, unsigned code) {
  return [reply, code](const status& stored) {
    reply(stored ? json_answer("{}", code) : to_answer(stored.failure()));
  };
}

} // namespace

void steer(api_site& site, const session_id& session, const api_call& call, const web_reply& reply) {
  body_reader body{call.body};
  const auto* text = body.text("text");
  const auto agent = body.number("agent");
  if (auto fault = body.fault())
    return reply(std::move(*fault));
  if (text == nullptr || text->empty())
    return reply(bad_arguments("'text' is missing: what the agents are told."));
  site.to.steer(session, agent_of(session, agent), *text, by_user, when_stored(reply, 202));
}

void give_answer(api_site& site, const session_id& session, const api_call& call, const web_reply& reply) {
  body_reader body{call.body};
  const auto* question = body.text("question");
  const auto* value = body.any("value");
  if (auto fault = body.fault())
    return reply(std::move(*fault));
  if (question == nullptr || question->empty())
    return reply(bad_arguments("'question' is missing: the id of the question."));
  if (value == nullptr)
    return reply(bad_arguments("'value' is missing: the answer."));
  site.to.answer(session, call_id{*question}, *value, by_user, when_stored(reply, 200));
}

void cancel(api_site& site, const session_id& session, const api_call& call, const web_reply& reply) {
  body_reader body{call.body};
  const auto agent = body.number("agent");
  const auto background = body.flag("background");
  if (auto fault = body.fault())
    return reply(std::move(*fault));
  site.to.cancel(session, agent_of(session, agent), by_user, background.value_or(false));
  reply(json_answer("{}", 202));
}

} // namespace troupe::net
