// The pure core: agents from start to end, and their requests.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/function_model.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <memory>
#include <utility>

#include "cost/workloads.hpp"
#include "support/profiles.hpp"

namespace troupe::cost {
namespace {

using namespace troupe::test;

constexpr int children = 20;

event_origin_ptr make_origin() {
  auto origin = std::make_shared<event_origin>();
  origin->session = session_id{"cost"};
  origin->run = make_run_id(origin->session, 1);
  origin->agent = make_agent_id(origin->session, 1);
  origin->number = 1;
  origin->author = origin->branch = "child";
  return origin;
}

// Feeds one input, folds its events and answers the calls that follow.
class driver {
 public:
  explicit driver(agent_profile_ptr profile) : profile_(std::move(profile)) { state_.number = 1; }

  void feed(const agent_input& in) {
    auto decided = decide(*profile_, state_, in);
    for (const auto& e : make_events(decided, origin_, state_, timestamp{}))
      state_ = apply(std::move(state_), e);
    for (const auto& c : decided.commands)
      if (const auto* call = std::get_if<command::call_tool>(&c))
        feed(input::tool_done{call->call, {"v", {}, {}}});
  }
  [[nodiscard]] const agent_state& state() const noexcept { return state_; }
  [[nodiscard]] const agent_profile& profile() const noexcept { return *profile_; }

 private:
  agent_profile_ptr profile_;
  event_origin_ptr origin_ = make_origin();
  agent_state state_;
};

agent_profile_ptr looking_up() {
  auto spec = root("child");
  spec.limits.max_turns = 100;
  spec.tools = {make_tool("lookup", "v")};
  return build(spec);
}

work child_of_three_turns() {
  return
      [profile = looking_up(), request = say("Look up two items."),
       call = call_response("lookup", {{"i", 1}, {"text", "of an item"}}), text = text_response("child-ok")] {
        for (int i = 0; i < children; ++i) {
          driver child{profile};
          child.feed(input::start{request, "prebuilt", 0, false});
          child.feed(input::model_done{call});
          child.feed(input::model_done{call});
          child.feed(input::model_done{text});
          REQUIRE(child.state().phase == agent_phase::ended);
        }
      };
}

work request_of_a_long_conversation() {
  auto agent = std::make_shared<driver>(looking_up());
  agent->feed(input::start{say("go"), "prebuilt", 0, false});
  for (int i = 0; i < 40; ++i)
    agent->feed(input::model_done{call_response("lookup", {{"i", i}})});
  return [agent] {
    for (int i = 0; i < children; ++i)
      REQUIRE(build_request(agent->profile(), agent->state()).contents.size() == 81);
  };
}

} // namespace

void add_machine(workloads& to) {
  to["machine: 20 children of three turns"] = child_of_three_turns;
  to["machine: 20 requests of 81 contents"] = request_of_a_long_conversation;
}

} // namespace troupe::cost
