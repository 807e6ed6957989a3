// Policy rules and questions in the turn machine.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "support/machine_driver.hpp"

using namespace troupe;
using namespace troupe::test;
using driver = machine_driver;

namespace {

agent_profile_ptr guarded(policy_decision decision) {
  auto spec = root();
  spec.tools = {make_tool("read"), make_tool("write", "ok", {})};
  spec.subagents = {{.name = "helper", .goal = "Help."}};
  auto rules = policy::compile({{.tool = "write", .decision = decision, .message = "mind the files"},
                                {.tool = "helper", .decision = decision}});
  REQUIRE(rules);
  spec.rules = std::make_shared<const policy>(std::move(*rules));
  return build(spec);
}

} // namespace

TEST_CASE("a denied call gets a result with the rule's message, and other calls run") {
  driver d{guarded(policy_decision::deny)};
  d.start();
  auto commands = d.feed(input::model_done{
      answer({call_of("write"), call_of("helper", R"({"request":"r"})"), call_of("read")})});
  CHECK(driver::of<command::call_tool>(commands).size() == 1);
  CHECK(driver::of<command::start_child>(commands).empty());
  auto r = d.events<tool_result_body>();
  REQUIRE(r.size() == 2);
  CHECK(r[0].code == errc::denied);
  CHECK(r[0].text.find("mind the files") != std::string::npos);
}

TEST_CASE("ask with nobody to answer is a denial that says so") {
  driver d{guarded(policy_decision::ask)};
  d.start();
  auto commands = d.feed(input::model_done{answer({call_of("write")})});
  CHECK(driver::of<command::ask>(commands).empty());
  auto r = d.events<tool_result_body>();
  REQUIRE(r.size() == 1);
  CHECK(r[0].code == errc::denied);
  CHECK(r[0].text.find("nobody can answer") != std::string::npos);
}

TEST_CASE(
    "a question stops its call until the answer, in any order; rejecting one does not touch the others") {
  driver d{guarded(policy_decision::ask)};
  d.answerable = true;
  d.start();
  auto commands = d.feed(input::model_done{answer({call_of("write"), call_of("write"), call_of("read")})});
  CHECK(driver::of<command::ask>(commands).size() == 2);
  CHECK(driver::of<command::call_tool>(commands).size() == 1);
  auto questions = d.events<question_body>();
  REQUIRE(questions.size() == 2);
  CHECK(questions[0].reason == "policy");
  commands = d.feed(input::answer{questions[1].question, false, "user"});
  CHECK(driver::of<command::question_closed>(commands).size() == 1);
  CHECK(d.events<tool_result_body>().at(0).code == errc::denied);
  commands = d.feed(input::answer{questions[0].question, true, "user"});
  auto started = driver::of<command::call_tool>(commands);
  REQUIRE(started.size() == 1);
  CHECK(started[0].call == questions[0].question);
  CHECK(d.feed(input::answer{questions[0].question, true, "user"}).empty());
}
