// Drives a turn machine for programs that measure it: keeps the state alone, and answers each call of a tool at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/function_model.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include "support/events.hpp"
#include "support/profiles.hpp"

namespace troupe::test {

class bare_driver {
 public:
  explicit bare_driver(agent_profile_ptr profile) : profile_(std::move(profile)) { state_.number = 1; }

  // Feeds an input, folds its events and answers the calls that follow. Gives how many events came of it.
  std::size_t feed(const agent_input& in) {
    auto decided = decide(*profile_, state_, in);
    const auto batch = make_events(decided, origin_, state_, timestamp{});
    for (const auto& e : batch)
      state_ = apply(std::move(state_), e);
    auto events = batch.size();
    for (const auto& c : decided.commands)
      if (const auto* call = std::get_if<command::call_tool>(&c))
        events += feed(input::tool_done{call->call, {"v", {}, {}}});
    return events;
  }

  [[nodiscard]] const agent_state& state() const noexcept { return state_; }
  [[nodiscard]] const agent_profile& profile() const noexcept { return *profile_; }

 private:
  agent_profile_ptr profile_;
  event_origin_ptr origin_ = make_origin(session_id{"s"}, 1, "child", "child");
  agent_state state_;
};

// A child that has the tool `lookup`.
inline agent_profile_ptr looking_up(nlohmann::json parameters = {{"type", "object"}}) {
  auto lookup = *make_tool("lookup", "v");
  lookup.parameters = std::move(parameters);
  auto spec = root("child");
  spec.limits.max_turns = 100;
  spec.tools = {std::make_shared<const tool_definition>(std::move(lookup))};
  return build(spec);
}

// What is said to a child of three turns: a request, two calls of `lookup`, a text. Made beforehand, so that only the
// child is measured.
struct three_turns {
  content_ptr request = say("Look up two items.");
  model_response call = call_response("lookup", {{"i", 1}, {"text", "of an item"}});
  model_response text = text_response("child-ok");

  // Gives how many events came of it.
  std::size_t play(bare_driver& child) const {
    auto events = child.feed(input::start{request, "prebuilt", 0, false});
    for (const auto* said : {&call, &call, &text})
      events += child.feed(input::model_done{*said});
    return events;
  }
};

// An agent that has called `lookup` in each of so many turns: a request, and two contents a turn.
inline bare_driver after_turns(agent_profile_ptr profile, int turns) {
  bare_driver agent{std::move(profile)};
  agent.feed(input::start{say("go"), "prebuilt", 0, false});
  for (int i = 0; i < turns; ++i)
    agent.feed(input::model_done{call_response("lookup", {{"i", i}})});
  return agent;
}

} // namespace troupe::test
