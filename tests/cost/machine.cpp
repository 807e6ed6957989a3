// The pure core: agents from start to end, and their requests.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <memory>

#include "cost/workloads.hpp"
#include "support/bare_driver.hpp"

namespace troupe::cost {
namespace {

using namespace troupe::test;

constexpr int children = 20;

work child_of_three_turns() {
  return [profile = looking_up(), said = three_turns{}] {
    for (int i = 0; i < children; ++i) {
      bare_driver child{profile};
      said.play(child);
      REQUIRE(child.state().phase == agent_phase::ended);
    }
  };
}

work request_of_a_long_conversation() {
  auto agent = std::make_shared<bare_driver>(after_turns(looking_up(), 40));
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
