// The life of a connection to an MCP server, over a transport in memory and with time that the test advances.
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

TEST_CASE("a server of the newer revision is asked with _meta, and answers calls") {
  mcp_link_fixture f;
  f.open_modern();
  CHECK(f.tool()->name == "mcp_srv_echo");
  mcp_call c;
  c.context->hops = 2;
  c.context->traceparent = "00-1-2-01";
  const auto asked = f.begin(c, {{"message", "hi"}});
  CHECK(asked["params"]["name"] == "echo");
  CHECK(asked["params"]["arguments"] == json{{"message", "hi"}});
  CHECK(asked["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28");
  CHECK(asked["params"]["_meta"]["dev.troupe/hops"] == 3);
  CHECK(asked["params"]["_meta"]["traceparent"] == "00-1-2-01");
  CHECK(c.results.empty());
  f.server.answer(asked, said_hi);
  CHECK(c.only().text == "hi");
  CHECK_FALSE(c.only().failed);
}

TEST_CASE("a server of an older revision is found out by its error, or by its silence") {
  mcp_link_fixture f;
  SUBCASE("error") {
    f.open_legacy();
  }
  SUBCASE("silence") {
    f.open();
    const auto probe = f.server.take("server/discover");
    f.clock.advance(5s);
    const auto hello = f.server.take("initialize");
    f.server.refuse(probe, -32601); // late, and no fault
    f.say_legacy(hello, "2025-11-25");
  }
  CHECK(f.tool()->name == "mcp_srv_echo");
  // What it speaks is remembered: after its end it is not asked again.
  f.server.end();
  mcp_call c;
  c.start(f.tool());
  CHECK(f.server.opened == 2);
  f.say_legacy(f.server.take("initialize"), "2025-11-25");
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(c.only().text == "hi");
}

TEST_CASE("a server of the newer revision that is slow to start is found by its late answer") {
  mcp_link_fixture f;
  f.open();
  const auto probe = f.server.take("server/discover");
  f.clock.advance(5s);
  const auto hello = f.server.take("initialize");
  const json found = {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"tools", json::object()}}}};
  SUBCASE("in the order of the requests") {
    f.server.answer(probe, found);
    f.server.refuse(hello, -32601); // late, and no fault
  }
  SUBCASE("after the refusal of the other") {
    f.server.refuse(hello, -32601);
    CHECK(f.lists.empty());
    f.server.answer(probe, found);
  }
  f.list_echo();
  REQUIRE(f.lists.size() == 1);
  mcp_call c;
  const auto asked = f.begin(c);
  CHECK(asked["params"].contains("_meta"));
  f.server.answer(asked, said_hi);
  CHECK(c.only().text == "hi");
  CHECK(f.logged.size() < 3);
}

TEST_CASE("a server that refuses both revisions has failed") {
  mcp_link_fixture f;
  f.open();
  const auto probe = f.server.take("server/discover");
  f.clock.advance(5s);
  f.server.refuse(f.server.take("initialize"), -32600, "never");
  f.server.refuse(probe, -32601);
  REQUIRE(f.lists.size() == 1);
  CHECK(f.lists[0].failure().message.find("never") != std::string::npos);
}

TEST_CASE("a server that ends at an unknown request is told the older revision's words") {
  mcp_link_fixture f;
  f.open();
  f.server.take("server/discover");
  f.server.end();
  CHECK(f.server.opened == 2);
  f.server.answer(f.server.take("initialize"),
                  {{"protocolVersion", "2025-03-26"}, {"capabilities", json::object()}});
  f.server.take("notifications/initialized");
  REQUIRE(f.lists.size() == 1);
  REQUIRE(f.lists[0]);
  CHECK(f.lists[0]->empty());
}

TEST_CASE("a server that ends at whatever it is told is asked anew after the pause") {
  mcp_link_fixture f;
  f.open();
  f.server.take("server/discover");
  f.server.end();
  f.server.take("initialize");
  f.server.end();
  REQUIRE(f.lists.size() == 1);
  CHECK(f.lists[0].failure().code == errc::connection_lost);
  f.clock.advance(500ms);
  const auto before = f.link->version();
  f.open_modern();
  CHECK(f.link->version() > before); // who has gone on without it hears of it
}

TEST_CASE("tools are listed page by page, and a list without an end is cut") {
  mcp_link_fixture f;
  f.options.limits.max_pages = 3;
  f.open();
  f.say_modern();
  for (int page = 0; page < 3; ++page) {
    const auto asked = f.server.take("tools/list");
    CHECK(asked["params"].value("cursor", "") == (page == 0 ? "" : std::to_string(page)));
    auto item = echo;
    item["name"] = "t" + std::to_string(page);
    f.server.answer(asked, {{"tools", json::array({item})}, {"nextCursor", std::to_string(page + 1)}});
  }
  CHECK(f.server.sent.empty());
  REQUIRE(f.lists.size() == 1);
  CHECK(f.lists[0]->size() == 3);
}

TEST_CASE("a server that hangs at its start fails in time, pauses longer each time, and is tried again") {
  mcp_link_fixture f;
  f.options.spec.startup_timeout = 20s;
  f.open();
  f.open(); // waits with the first
  f.clock.advance(19s);
  CHECK(f.lists.empty());
  f.clock.advance(1s);
  REQUIRE(f.lists.size() == 2);
  CHECK(f.lists[0].failure().code == errc::timeout);
  CHECK(f.lists[0].failure().message.find("20s") != std::string::npos);
  CHECK(f.server.open == 0);
  f.open(); // in the pause: fails at once
  CHECK(f.lists.size() == 3);
  CHECK(f.server.opened == 1);
  f.clock.advance(500ms);
  f.server.refuses = true;
  f.open();
  CHECK(f.server.opened == 2);
  CHECK(f.lists.size() == 4);
  CHECK(f.lists[3].failure().code == errc::connection_failed);
  f.clock.advance(999ms);
  f.open();
  CHECK(f.server.opened == 2);
  f.clock.advance(1ms);
  f.server.refuses = false;
  f.server.sent.clear();
  f.open_modern();
  CHECK(f.lists.back());
}

TEST_CASE("a server that lists well and dies in each call is started again after a pause") {
  mcp_link_fixture f;
  const auto lists_again = [&f] {
    f.say_modern();
    f.list_echo();
  };
  const auto dies = [&f] {
    f.server.take("tools/call");
    f.server.end();
  };
  f.open_modern();
  mcp_call first("c1");
  first.start(f.tool());
  dies();
  mcp_call second("c2"); // at once: it may have been bad luck
  second.start(f.tool());
  lists_again();
  dies();
  mcp_call third("c3");
  third.start(f.tool());
  CHECK(third.only().failed == errc::connection_lost);
  CHECK(f.server.opened == 2);
  f.clock.advance(60s);
  mcp_call fourth("c4");
  fourth.start(f.tool());
  lists_again();
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(fourth.only().text == "hi");
  f.server.end(); // it has worked
  mcp_call fifth("c5");
  fifth.start(f.tool());
  CHECK(f.server.opened == 4);
  lists_again();
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(fifth.only().text == "hi");
}

TEST_CASE("calls of a server that ends fail with a clear word, and the next one starts it again") {
  mcp_link_fixture f;
  f.open_modern();
  mcp_call c;
  f.begin(c);
  f.server.end();
  CHECK(c.only().failed == errc::connection_lost);
  CHECK(c.only().text.find("not known") != std::string::npos);
  CHECK(f.server.open == 0);
  mcp_call next("c2");
  next.start(f.tool());
  f.say_modern();
  f.list_echo();
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(next.only().text == "hi");
}

TEST_CASE("messages that make no sense are counted, and after many the connection is replaced") {
  mcp_link_fixture f;
  f.options.limits.max_faults = 6;
  f.open_modern();
  mcp_call c;
  const auto asked = f.begin(c);
  f.server.raw("garbage");
  f.server.raw("{\"jsonrpc\":\"2.0\"");
  f.server.raw(std::string(100, '[') + std::string(100, ']'));
  f.server.say({{"id", 4711}, {"result", 1}});
  CHECK(c.results.empty());
  f.server.answer(asked, said_hi);
  CHECK(c.only().text == "hi");
  f.server.answer(asked, said_hi); // twice
  CHECK(f.server.open == 1);
  CHECK(c.results.size() == 1);
  f.server.say({{"id", "text"}, {"result", 1}});
  CHECK(f.server.open == 0);
}

TEST_CASE("a change of the list raises the version, and the list is read anew") {
  mcp_link_fixture f;
  f.open_modern(true);
  const auto before = f.link->version();
  f.server.say({{"method", "notifications/tools/list_changed"}});
  CHECK(f.link->version() > before);
  f.open();
  auto other = echo;
  other["name"] = "other";
  f.server.answer(f.server.take("tools/list"), {{"tools", json::array({echo, other})}});
  CHECK(f.lists.back()->size() == 2);
  f.open();
  CHECK(f.server.sent.empty());
}

TEST_CASE("a new list that is refused or has no end leaves the old one, and the connection with its calls") {
  mcp_link_fixture f;
  f.options.spec.startup_timeout = 20s;
  f.options.spec.timeout = 600s;
  f.options.spec.max_call_time = 600s;
  f.open_modern(true);
  mcp_call under_way;
  const auto asked = f.begin(under_way);
  f.server.say({{"method", "notifications/tools/list_changed"}});
  f.open();
  CHECK(f.lists.size() == 1);
  SUBCASE("refused") {
    f.server.refuse(f.server.take("tools/list"), -32603);
  }
  SUBCASE("page by page for ever") {
    for (int i = 0; i < 20; ++i) {
      f.clock.advance(1s);
      if (i < 19)
        f.server.answer(f.server.take("tools/list"), {{"tools", json::array()}, {"nextCursor", "more"}});
    }
    const auto late = f.server.take("tools/list");
    CHECK(f.server.take("notifications/cancelled")["params"]["requestId"] == late["id"]);
  }
  REQUIRE(f.lists.size() == 2);
  REQUIRE(f.lists[1]);
  CHECK(f.lists[1]->size() == 1);
  CHECK(f.server.open == 1);
  f.server.answer(asked, said_hi);
  CHECK(under_way.only().text == "hi");
}

TEST_CASE("a server that ends while it is asked for a new list is started again") {
  mcp_link_fixture f;
  f.open_modern(true);
  f.server.say({{"method", "notifications/tools/list_changed"}});
  f.open();
  f.server.take("tools/list");
  f.server.end();
  CHECK(f.server.opened == 2);
  f.say_modern();
  f.list_echo();
  REQUIRE(f.lists.size() == 2);
  CHECK(f.lists[1]);
}

TEST_CASE("a subscription that ends is asked for again, and the list is read anew; a refused one is not") {
  mcp_link_fixture f;
  f.open();
  f.say_modern({{"tools", {{"listChanged", true}}}});
  const auto subscription = f.server.take("subscriptions/listen");
  f.list_echo();
  const auto before = f.link->version();
  SUBCASE("ended") {
    f.server.answer(subscription, json::object());
    CHECK(f.server.sent.empty());
    f.clock.advance(500ms);
    const auto again = f.server.take("subscriptions/listen");
    CHECK(f.link->version() > before);
    f.server.answer(again, json::object());
    f.clock.advance(999ms); // a longer pause
    CHECK(f.server.sent.empty());
    f.clock.advance(1ms);
    f.server.take("subscriptions/listen");
  }
  SUBCASE("refused") {
    f.server.refuse(subscription, -32601);
    f.clock.advance(10min);
    CHECK(f.server.sent.empty());
    CHECK(f.link->version() == before);
  }
}

TEST_CASE("after the source has closed its tools fail, and calls under way are answered") {
  mcp_link_fixture f;
  f.open_modern();
  const auto tool = f.tool();
  mcp_call under_way;
  under_way.start(tool);
  f.link->close();
  CHECK(under_way.only().failed == errc::shutting_down);
  CHECK(f.server.open == 0);
  mcp_call c("c2");
  c.start(tool);
  CHECK(c.only().failed == errc::shutting_down);
  f.link.reset();
  mcp_call d("c3");
  d.start(tool);
  CHECK(d.only().failed == errc::shutting_down);
  CHECK(f.clock.waiting() == 0);
}
