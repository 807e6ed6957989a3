// Calls of the tools of an MCP server, and what it asks meanwhile, over a transport in memory.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "net/mcp_wire.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

TEST_CASE("a call that hangs ends in time, the server is told, and others are not held up") {
  mcp_link_fixture f;
  f.open_legacy();
  mcp_call hangs("c1");
  mcp_call other("c2");
  const auto first = f.begin(hangs);
  const auto second = f.begin(other);
  f.clock.advance(9s);
  // Progress is a sign of life.
  f.server.say(
      {{"method", "notifications/progress"}, {"params", {{"progressToken", first["id"]}, {"progress", 1}}}});
  f.server.answer(second, said_hi);
  CHECK(other.only().text == "hi");
  f.clock.advance(9s);
  CHECK(hangs.results.empty());
  f.clock.advance(1s);
  CHECK(hangs.only().failed == errc::timeout);
  const auto told = f.server.take("notifications/cancelled");
  CHECK(told["params"]["requestId"] == first["id"]);
  f.server.answer(first, said_hi); // late
  CHECK(hangs.results.size() == 1);
  CHECK(f.server.open == 1);
}

TEST_CASE("progress extends a call only up to its own end") {
  mcp_link_fixture f;
  f.open_modern();
  mcp_call c;
  const auto asked = f.begin(c);
  for (int i = 0; i < 7; ++i) {
    f.clock.advance(9s);
    f.server.say({{"method", "notifications/progress"},
                  {"params", {{"progressToken", asked["id"]}, {"progress", i}}}});
  }
  CHECK(c.only().failed == errc::timeout);
  CHECK(c.only().text.find("1m") != std::string::npos);
}

TEST_CASE("a call that is not wanted any more is cancelled") {
  mcp_link_fixture f;
  f.open_legacy();
  mcp_call c;
  const auto asked = f.begin(c);
  c.stop.request_stop();
  CHECK(f.server.take("notifications/cancelled")["params"]["requestId"] == asked["id"]);
  CHECK(f.server.cancelled.back() == asked["id"].get<mcp_request_id>());
  CHECK(c.only().failed == errc::cancelled);
  mcp_call late("c2");
  late.stop.request_stop();
  late.start(f.tool());
  CHECK(f.server.sent.empty());
  CHECK(late.only().failed == errc::cancelled);
}

TEST_CASE("calls end with their server, also when it is let go while the connection is at work") {
  mcp_link_fixture f;
  f.open_legacy();
  mcp_call c;
  f.begin(c);
  f.server.on_send = [&f] {
    f.link->close();
    f.link.reset();
  };
  f.server.say({{"id", 1}, {"method", "ping"}});
  CHECK(c.only().failed == errc::shutting_down);
}

TEST_CASE("what a server asks beside calls is answered") {
  mcp_link_fixture f;
  f.open_legacy();
  f.server.say({{"id", "p"}, {"method", "ping"}});
  CHECK(f.server.take()["result"] == json::object());
  f.server.say({{"id", 5}, {"method", "roots/list"}});
  CHECK(f.server.take()["result"]["roots"][0]["uri"] == "file:///work");
  f.server.say({{"id", 6}, {"method", "sampling/createMessage"}, {"params", json::object()}});
  CHECK(f.server.take()["error"]["code"] == -32601);
  // A question without a call has nobody to ask.
  f.server.say({{"id", 7}, {"method", "elicitation/create"}, {"params", {{"message", "?"}}}});
  CHECK(f.server.take()["result"]["action"] == "cancel");
  for (int i = 0; i < 1000; ++i)
    f.server.say({{"method", "notifications/message"}, {"params", {{"level", "info"}, {"data", "x"}}}});
  CHECK(f.logged.size() < 250);
}

TEST_CASE("a question in the older revision: the server waits, and gets the answer") {
  mcp_link_fixture f;
  f.open_legacy();
  mcp_call c;
  const auto asked = f.begin(c);
  f.ask_form();
  REQUIRE(c.only().question);
  CHECK(c.only().question->message == "Which name?");
  f.clock.advance(30min); // nobody's clock runs
  CHECK(f.server.sent.empty());
  std::optional<json> value = json{{"name", "Ada"}};
  SUBCASE("answered") {}
  SUBCASE("declined") {
    value.reset();
  }
  c.again(f.tool(), value);
  const auto reply = f.server.take();
  CHECK(reply["id"] == 99);
  CHECK(reply["result"]["action"] == (value ? "accept" : "decline"));
  f.server.answer(asked, said_hi);
  REQUIRE(c.results.size() == 2);
  CHECK(c.results[1].text == "hi");
}

TEST_CASE("a question that may be of any call holds the clocks of all") {
  mcp_link_fixture f;
  f.open_legacy();
  mcp_call first("c1");
  mcp_call second("c2");
  const auto one = f.begin(first);
  f.begin(second);
  f.ask_form();
  REQUIRE(second.only().question);
  mcp_call third("c3"); // begins meanwhile
  f.begin(third);
  f.clock.advance(30min);
  CHECK(first.results.empty());
  CHECK(third.results.empty());
  second.again(f.tool(), json{{"name", "Ada"}});
  CHECK(f.server.take()["id"] == 99);
  f.server.answer(one, said_hi);
  CHECK(first.only().text == "hi");
  f.clock.advance(10s);
  CHECK(third.only().failed == errc::timeout);
  REQUIRE(second.results.size() == 2);
  CHECK(second.results[1].failed == errc::timeout);
}

TEST_CASE("the deadline counts again after the answer") {
  mcp_link_fixture f;
  f.open_legacy();
  mcp_call c;
  f.begin(c);
  f.ask_form();
  c.again(f.tool(), json{{"name", "Ada"}});
  f.clock.advance(10s);
  REQUIRE(c.results.size() == 2);
  CHECK(c.results[1].failed == errc::timeout);
}

TEST_CASE("a result that comes while the user is asked is kept, and an end too") {
  mcp_link_fixture f;
  f.open_legacy();
  mcp_call c;
  const auto asked = f.begin(c);
  f.ask_form();
  bool ends = false;
  SUBCASE("result") {
    f.server.answer(asked, said_hi);
  }
  SUBCASE("end") {
    f.server.end();
    ends = true;
  }
  CHECK(c.results.size() == 1);
  c.again(f.tool(), json{{"name", "Ada"}});
  REQUIRE(c.results.size() == 2);
  if (ends)
    CHECK(c.results[1].failed == errc::connection_lost);
  else
    CHECK(c.results[1].text == "hi");
}

TEST_CASE("questions in the newer revision: the request is sent again with the answers") {
  mcp_link_fixture f;
  f.open_modern();
  mcp_call c;
  const auto asked = f.begin(c, {{"x", 1}});
  f.server.answer(asked, {{"resultType", "input_required"},
                          {"inputRequests",
                           {{"a", {{"method", "elicitation/create"}, {"params", form}}},
                            {"b", {{"method", "elicitation/create"}, {"params", form}}},
                            {"r", {{"method", "roots/list"}}}}},
                          {"requestState", "opaque"}});
  REQUIRE(c.results.size() == 1);
  REQUIRE(c.results[0].question);
  c.again(f.tool(), json{{"name", "Ada"}});
  REQUIRE(c.results.size() == 2);
  REQUIRE(c.results[1].question);
  CHECK(f.server.sent.empty());
  c.again(f.tool(), std::nullopt);
  const auto again = f.server.take("tools/call");
  CHECK(again["id"] != asked["id"]);
  CHECK(again["params"]["arguments"] == json{{"x", 1}});
  CHECK(again["params"]["requestState"] == "opaque");
  const auto& answers = again["params"]["inputResponses"];
  CHECK(answers["a"] == json{{"action", "accept"}, {"content", {{"name", "Ada"}}}});
  CHECK(answers["b"]["action"] == "decline");
  CHECK(answers["r"]["roots"][0]["uri"] == "file:///work");
  f.server.answer(again, said_hi);
  REQUIRE(c.results.size() == 3);
  CHECK(c.results[2].text == "hi");
}

TEST_CASE("a server that asks for ever, or for what is not offered, fails the call") {
  mcp_link_fixture f;
  f.options.limits.max_input_rounds = 3;
  f.open_modern();
  mcp_call c;
  c.start(f.tool());
  SUBCASE("for ever") {
    for (int i = 0; i < 3; ++i) {
      f.server.answer(f.server.take("tools/call"), {{"resultType", "input_required"}, {"requestState", "s"}});
      f.clock.advance(500ms);
    }
    f.server.answer(f.server.take("tools/call"), {{"resultType", "input_required"}, {"requestState", "s"}});
  }
  SUBCASE("sampling") {
    f.server.answer(f.server.take("tools/call"),
                    {{"resultType", "input_required"},
                     {"inputRequests", {{"a", {{"method", "sampling/createMessage"}}}}}});
  }
  CHECK(c.only().failed == errc::protocol);
}

TEST_CASE("an answer to a question that is not there any more is an interruption") {
  mcp_link_fixture f;
  f.options.limits.max_parked = 1;
  f.open_modern();
  const json round = {{"resultType", "input_required"},
                      {"inputRequests", {{"a", {{"method", "elicitation/create"}, {"params", form}}}}}};
  mcp_call never("c0");
  never.again(f.tool(), json{{"name", "x"}});
  CHECK(never.only().failed == errc::interrupted);
  // The oldest gives way.
  mcp_call first("c1");
  mcp_call second("c2");
  f.server.answer(f.begin(first), round);
  f.server.answer(f.begin(second), round);
  first.again(f.tool(), json{{"name", "x"}});
  CHECK(first.results.back().failed == errc::interrupted);
  second.again(f.tool(), json{{"name", "x"}});
  CHECK(second.results.size() == 1);
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(second.results.back().text == "hi");
  // And so does one that nobody answers.
  mcp_call third("c3");
  f.server.answer(f.begin(third), round);
  f.clock.advance(f.options.limits.question_timeout);
  third.again(f.tool(), json{{"name", "x"}});
  CHECK(third.results.back().failed == errc::interrupted);
}

TEST_CASE("resources are two more tools, unless the configuration leaves them out") {
  mcp_link_fixture f;
  SUBCASE("offered") {}
  SUBCASE("left out") {
    f.options.spec.exclude_tools = {"list_resources", "read_resource"};
  }
  f.open();
  f.say_modern({{"resources", json::object()}});
  REQUIRE(f.lists.size() == 1);
  if (!f.options.spec.exclude_tools.empty()) {
    CHECK(f.lists[0]->empty());
    return;
  }
  REQUIRE(f.lists[0]->size() == 2);
  mcp_call c;
  c.start(f.lists[0]->at(1), {{"uri", "demo://1"}});
  const auto asked = f.server.take("resources/read");
  CHECK(asked["params"]["uri"] == "demo://1");
  f.server.answer(asked, {{"contents", {{{"uri", "demo://1"}, {"text", "inside"}}}}});
  CHECK(c.only().text == "[resource demo://1]\ninside");
}

TEST_CASE(
    "after the last page of resources come the templates, and those that have more go on with their cursor") {
  mcp_link_fixture f;
  f.open();
  f.say_modern({{"resources", json::object()}});
  REQUIRE(f.lists.size() == 1);
  const auto list = f.lists[0]->at(0);
  const json resource = {{"uri", "demo://1"}, {"name", "One"}};
  const json pattern = {{"uriTemplate", "demo://{id}"}, {"name", "Any"}};
  mcp_call first("c1");
  first.start(list);
  f.server.answer(f.server.take("resources/list"),
                  {{"resources", json::array({resource})}, {"nextCursor", "2"}});
  CHECK(first.only().text == "[resource demo://1: One]\nMore with cursor: 2");
  mcp_call second("c2");
  second.start(list, {{"cursor", "2"}});
  const auto page = f.server.take("resources/list");
  CHECK(page["params"]["cursor"] == "2");
  f.server.answer(page, {{"resources", json::array({resource})}});
  const auto asked = f.server.take("resources/templates/list");
  CHECK_FALSE(asked["params"].contains("cursor"));
  SUBCASE("more templates") {
    f.server.answer(asked, {{"resourceTemplates", json::array({pattern})}, {"nextCursor", "b"}});
    CHECK(second.only().text == "[resource demo://1: One]\n[resource template demo://{id}: Any]\n"
                                "More with cursor: templates:b");
    mcp_call third("c3");
    third.start(list, {{"cursor", "templates:b"}});
    const auto rest = f.server.take("resources/templates/list");
    CHECK(rest["params"]["cursor"] == "b");
    f.server.answer(rest, {{"resourceTemplates", json::array({pattern})}});
    CHECK(third.only().text == "[resource template demo://{id}: Any]");
  }
  SUBCASE("a server without templates") {
    f.server.refuse(asked, -32601);
    CHECK(second.only().text == "[resource demo://1: One]");
    CHECK_FALSE(second.only().failed);
  }
}

TEST_CASE("more requests than allowed fail at once") {
  mcp_link_fixture f;
  f.options.limits.max_pending = 2;
  f.open_modern();
  mcp_call a("1");
  mcp_call b("2");
  mcp_call c("3");
  a.start(f.tool());
  b.start(f.tool());
  c.start(f.tool());
  CHECK(c.only().failed == errc::busy);
  CHECK(a.results.empty());
}
