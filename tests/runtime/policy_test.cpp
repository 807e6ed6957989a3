// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/policy.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using json = nlohmann::json;
using enum policy_decision;

static policy_rule rule(std::string tool, policy_decision decision, std::string agent = "*") {
  policy_rule r;
  r.tool = std::move(tool);
  r.agent = std::move(agent);
  r.decision = decision;
  return r;
}

TEST_CASE("the first matching rule decides") {
  auto p =
      policy::compile({rule("write_file", allow, "editor"), rule("write_*", deny), rule("*", ask, "guest")});
  REQUIRE(p);
  CHECK(p->decide("write_file", "editor", {}).decision == allow);
  CHECK(p->decide("write_file", "other", {}).decision == deny);
  CHECK(p->decide("write_file", "other", {}).rule == 1);
  CHECK(p->decide("read_file", "guest", {}).decision == ask);
  CHECK(p->decide("read_file", "other", {}) == policy_verdict{});
}

TEST_CASE("without rules the fallback decides") {
  CHECK(policy{}.decide("x", "y", {}).decision == allow);
  CHECK(policy::compile({}, deny)->decide("x", "y", {}).decision == deny);
}

TEST_CASE("arguments are matched by name and as a line of JSON") {
  auto by_name = rule("fetch_url", deny);
  by_name.arguments = {{"url", "http://*"}, {"depth", "1"}};
  by_name.message = "Only https.";
  auto by_pattern = rule("environment", ask);
  by_pattern.arguments_pattern = R"("command":"rm )";
  auto p = policy::compile({by_name, by_pattern});
  REQUIRE(p);
  CHECK(p->decide("fetch_url", "a", {{"url", "http://x"}, {"depth", 1}}).message == "Only https.");
  CHECK(p->decide("fetch_url", "a", {{"url", "http://x"}, {"depth", 2}}).decision == allow);
  CHECK(p->decide("fetch_url", "a", {{"url", "http://x"}}).decision == allow);
  CHECK(p->decide("fetch_url", "a", json::array()).decision == allow);
  CHECK(p->decide("environment", "a", {{"command", "rm -rf x"}}).decision == ask);
  CHECK(p->decide("environment", "a", {{"command", "ls"}}).decision == allow);
}

TEST_CASE("a delegation is ruled by the name of the child too") {
  auto p = policy::compile({rule("reviewer", deny), rule("invoke_agent", ask)});
  CHECK(p->decide("invoke_agent", "root", {}, "reviewer").decision == deny);
  CHECK(p->decide("invoke_agent", "root", {}, "critic").decision == ask);
  CHECK(p->decide("read_file", "root", {}, "").decision == allow);
}

TEST_CASE("remote agents can be ruled as such") {
  auto p = policy::compile({rule("remote:friend", allow), rule("remote:*", deny)});
  CHECK(p->decide("invoke_agent", "root", {}, "friend", true).decision == allow);
  CHECK(p->decide("invoke_agent", "root", {}, "stranger", true).decision == deny);
  CHECK(p->decide("invoke_agent", "root", {}, "stranger", false).decision == allow);
}

TEST_CASE("unsound rules are refused with their number") {
  auto bad = rule("*", deny);
  bad.arguments_pattern = "(";
  auto p = policy::compile({rule("a", allow), bad});
  REQUIRE(!p);
  CHECK(p.failure().code == errc::bad_config);
  CHECK(p.failure().message.find("rule 2") != std::string::npos);
  CHECK_FALSE(policy::compile({rule("", allow)}));
}
