// The life of a connection to an MCP server, over a transport in memory and with time that the test advances.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_server_link.hpp>
#include <troupe/runtime/json_text.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "support/manual_timer.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// What a server sees, and what it says.
struct wire {
  std::deque<json> sent; // that have not been taken
  std::weak_ptr<mcp_transport_events> to;
  std::vector<mcp_request_id> cancelled;
  int opened = 0;
  int open = 0;
  bool refuses = false;

  json take() {
    REQUIRE_FALSE(sent.empty());
    auto first = sent.front();
    sent.pop_front();
    return first;
  }
  json take(const std::string& method) {
    auto message = take();
    CHECK(message.value("method", "") == method);
    return message;
  }
  void raw(std::string text, mcp_request_id carrier = 0) {
    if (auto events = to.lock())
      events->on_message(std::move(text), carrier);
  }
  void say(json message) {
    message["jsonrpc"] = "2.0";
    raw(message.dump());
  }
  void answer(const json& request, json value) {
    say({{"id", request.at("id")}, {"result", std::move(value)}});
  }
  void refuse(const json& request, int code, const char* why = "no") {
    say({{"id", request.at("id")}, {"error", {{"code", code}, {"message", why}}}});
  }
  void end() {
    if (auto events = to.lock())
      events->on_closed({errc::connection_lost, "MCP server 'srv' ended with code 1."});
  }
};

class wire_transport final : public mcp_transport {
 public:
  explicit wire_transport(wire& w) : wire_(w) { ++wire_.opened, ++wire_.open; }
  ~wire_transport() override { --wire_.open; }
  void start(std::weak_ptr<mcp_transport_events> to) override {
    wire_.to = std::move(to);
    if (wire_.refuses)
      wire_.to.lock()->on_closed(
          {errc::connection_failed, "MCP server 'srv' cannot be started: no such program"});
  }
  void send(mcp_outgoing message) override { wire_.sent.push_back(json::parse(message.text)); }
  void cancel(mcp_request_id id) override { wire_.cancelled.push_back(id); }
  void speak(const mcp_peer&) override {}

 private:
  wire& wire_;
};

const json echo = {{"name", "echo"}, {"description", "Echoes."}, {"inputSchema", {{"type", "object"}}}};
const json echo_list = {{"tools", json::array({echo})}};

// One call of a tool, and what has come of it.
struct call {
  std::shared_ptr<tool_context> context = std::make_shared<tool_context>();
  std::stop_source stop;
  std::shared_ptr<std::vector<tool_result>> kept = std::make_shared<std::vector<tool_result>>();
  std::vector<tool_result>& results = *kept; // a call may be answered when the test has ended

  explicit call(const char* id = "c1") {
    context->session = session_id{"s"};
    context->agent = agent_id{"a"};
    context->call = call_id{id};
    context->stop = stop.get_token();
  }
  void start(const tool_ptr& tool, json arguments = json::object()) {
    tool->start(std::make_shared<const json>(std::move(arguments)), context,
                [to = kept](tool_result r) { to->push_back(std::move(r)); });
  }
  // The runtime calls again with an answer, in a context of its own.
  void again(const tool_ptr& tool, std::optional<json> value) {
    context = std::make_shared<tool_context>(*context);
    context->answer = tool_answer{std::move(value)};
    start(tool);
  }
  [[nodiscard]] const tool_result& only() const {
    REQUIRE(results.size() == 1);
    return results.front();
  }
};

struct fixture {
  wire server;
  manual_timer clock;
  mcp_link_options options;
  std::vector<std::string> logged;
  std::shared_ptr<mcp_server_link> link;
  std::vector<result<std::vector<tool_ptr>>> lists;

  fixture() {
    options.spec.name = "srv";
    options.spec.timeout = 10s;
    options.spec.max_call_time = 60s;
    options.root_uri = "file:///work";
    options.connect = [this] { return std::make_unique<wire_transport>(server); };
    options.log = [this](log_level, std::string_view text) { logged.emplace_back(text); };
  }
  ~fixture() {
    if (link)
      link->close();
    CHECK(server.open == 0);
  }
  void open() {
    if (!link)
      link = std::make_shared<mcp_server_link>(clock, options);
    link->open([this](result<std::vector<tool_ptr>> r) { lists.push_back(std::move(r)); });
  }
  void open_modern(bool tells_changes = false) {
    open();
    server.answer(server.take("server/discover"),
                  {{"supportedVersions", {"2026-07-28"}},
                   {"capabilities", {{"tools", {{"listChanged", tells_changes}}}}}});
    if (tells_changes)
      CHECK(server.take("subscriptions/listen")["params"]["notifications"]["toolsListChanged"] == true);
    server.answer(server.take("tools/list"), echo_list);
  }
  void open_legacy() {
    open();
    server.refuse(server.take("server/discover"), -32601);
    const auto hello = server.take("initialize");
    CHECK(hello["params"]["protocolVersion"] == "2025-11-25");
    CHECK_FALSE(hello["params"].contains("_meta"));
    server.answer(hello, {{"protocolVersion", "2025-06-18"}, {"capabilities", {{"tools", json::object()}}}});
    server.take("notifications/initialized");
    server.answer(server.take("tools/list"), echo_list);
  }
  tool_ptr tool() {
    REQUIRE_FALSE(lists.empty());
    REQUIRE(lists.back());
    REQUIRE_FALSE(lists.back()->empty());
    return lists.back()->front();
  }
};

const json said_hi = {{"content", {{{"type", "text"}, {"text", "hi"}}}}};

} // namespace

TEST_CASE("a server of the newer revision is asked with _meta, and answers calls") {
  fixture f;
  f.open_modern();
  CHECK(f.tool()->name == "mcp_srv_echo");
  call c;
  c.context->hops = 2;
  c.context->traceparent = "00-1-2-01";
  c.start(f.tool(), {{"message", "hi"}});
  const auto asked = f.server.take("tools/call");
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
  fixture f;
  SUBCASE("error") {
    f.open_legacy();
  }
  SUBCASE("silence") {
    f.open();
    const auto probe = f.server.take("server/discover");
    f.clock.advance(5s);
    const auto hello = f.server.take("initialize");
    f.server.refuse(probe, -32601); // late, and no fault
    f.server.answer(hello,
                    {{"protocolVersion", "2025-11-25"}, {"capabilities", {{"tools", json::object()}}}});
    f.server.take("notifications/initialized");
    f.server.answer(f.server.take("tools/list"), echo_list);
  }
  CHECK(f.tool()->name == "mcp_srv_echo");
  // What it speaks is remembered: after its end it is not asked again.
  f.server.end();
  call c;
  c.start(f.tool());
  CHECK(f.server.opened == 2);
  f.server.answer(f.server.take("initialize"),
                  {{"protocolVersion", "2025-11-25"}, {"capabilities", {{"tools", json::object()}}}});
  f.server.take("notifications/initialized");
  f.server.answer(f.server.take("tools/list"), echo_list);
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(c.only().text == "hi");
}

TEST_CASE("a server of the newer revision that is slow to start is found by its late answer") {
  fixture f;
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
  f.server.answer(f.server.take("tools/list"), echo_list);
  REQUIRE(f.lists.size() == 1);
  call c;
  c.start(f.tool());
  const auto asked = f.server.take("tools/call");
  CHECK(asked["params"].contains("_meta"));
  f.server.answer(asked, said_hi);
  CHECK(c.only().text == "hi");
  CHECK(f.logged.size() < 3);
}

TEST_CASE("a server that refuses both revisions has failed") {
  fixture f;
  f.open();
  const auto probe = f.server.take("server/discover");
  f.clock.advance(5s);
  f.server.refuse(f.server.take("initialize"), -32600, "never");
  f.server.refuse(probe, -32601);
  REQUIRE(f.lists.size() == 1);
  CHECK(f.lists[0].failure().message.find("never") != std::string::npos);
}

TEST_CASE("a server that ends at an unknown request is told the older revision's words") {
  fixture f;
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
  fixture f;
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
  fixture f;
  f.options.limits.max_pages = 3;
  f.open();
  f.server.answer(f.server.take("server/discover"),
                  {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"tools", json::object()}}}});
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
  fixture f;
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

TEST_CASE("a call that hangs ends in time, the server is told, and others are not held up") {
  fixture f;
  f.open_legacy();
  call hangs("c1");
  call other("c2");
  hangs.start(f.tool());
  other.start(f.tool());
  const auto first = f.server.take("tools/call");
  const auto second = f.server.take("tools/call");
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
  fixture f;
  f.open_modern();
  call c;
  c.start(f.tool());
  const auto asked = f.server.take("tools/call");
  for (int i = 0; i < 7; ++i) {
    f.clock.advance(9s);
    f.server.say({{"method", "notifications/progress"},
                  {"params", {{"progressToken", asked["id"]}, {"progress", i}}}});
  }
  CHECK(c.only().failed == errc::timeout);
  CHECK(c.only().text.find("1m") != std::string::npos);
}

TEST_CASE("a call that is not wanted any more is cancelled") {
  fixture f;
  f.open_legacy();
  call c;
  c.start(f.tool());
  const auto asked = f.server.take("tools/call");
  c.stop.request_stop();
  CHECK(f.server.take("notifications/cancelled")["params"]["requestId"] == asked["id"]);
  CHECK(f.server.cancelled.back() == asked["id"].get<mcp_request_id>());
  CHECK(c.only().failed == errc::cancelled);
  call late("c2");
  late.stop.request_stop();
  late.start(f.tool());
  CHECK(f.server.sent.empty());
  CHECK(late.only().failed == errc::cancelled);
}

TEST_CASE("a server that lists well and dies in each call is started again after a pause") {
  fixture f;
  const auto lists_again = [&f] {
    f.server.answer(f.server.take("server/discover"),
                    {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"tools", json::object()}}}});
    f.server.answer(f.server.take("tools/list"), echo_list);
  };
  const auto dies = [&f] {
    f.server.take("tools/call");
    f.server.end();
  };
  f.open_modern();
  call first("c1");
  first.start(f.tool());
  dies();
  call second("c2"); // at once: it may have been bad luck
  second.start(f.tool());
  lists_again();
  dies();
  call third("c3");
  third.start(f.tool());
  CHECK(third.only().failed == errc::connection_lost);
  CHECK(f.server.opened == 2);
  f.clock.advance(60s);
  call fourth("c4");
  fourth.start(f.tool());
  lists_again();
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(fourth.only().text == "hi");
  f.server.end(); // it has worked
  call fifth("c5");
  fifth.start(f.tool());
  CHECK(f.server.opened == 4);
  lists_again();
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(fifth.only().text == "hi");
}

TEST_CASE("calls of a server that ends fail with a clear word, and the next one starts it again") {
  fixture f;
  f.open_modern();
  call c;
  c.start(f.tool());
  f.server.take("tools/call");
  f.server.end();
  CHECK(c.only().failed == errc::connection_lost);
  CHECK(c.only().text.find("not known") != std::string::npos);
  CHECK(f.server.open == 0);
  call next("c2");
  next.start(f.tool());
  f.server.answer(f.server.take("server/discover"),
                  {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"tools", json::object()}}}});
  f.server.answer(f.server.take("tools/list"), echo_list);
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(next.only().text == "hi");
}

TEST_CASE("messages that make no sense are counted, and after many the connection is replaced") {
  fixture f;
  f.options.limits.max_faults = 6;
  f.open_modern();
  call c;
  c.start(f.tool());
  const auto asked = f.server.take("tools/call");
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

TEST_CASE("what a server asks beside calls is answered") {
  fixture f;
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

TEST_CASE("a change of the list raises the version, and the list is read anew") {
  fixture f;
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
  fixture f;
  f.options.spec.startup_timeout = 20s;
  f.options.spec.timeout = 600s;
  f.options.spec.max_call_time = 600s;
  f.open_modern(true);
  call under_way;
  under_way.start(f.tool());
  const auto asked = f.server.take("tools/call");
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
  fixture f;
  f.open_modern(true);
  f.server.say({{"method", "notifications/tools/list_changed"}});
  f.open();
  f.server.take("tools/list");
  f.server.end();
  CHECK(f.server.opened == 2);
  f.server.answer(f.server.take("server/discover"),
                  {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"tools", json::object()}}}});
  f.server.answer(f.server.take("tools/list"), echo_list);
  REQUIRE(f.lists.size() == 2);
  CHECK(f.lists[1]);
}

TEST_CASE("a subscription that ends is asked for again, and the list is read anew; a refused one is not") {
  fixture f;
  f.open();
  f.server.answer(f.server.take("server/discover"), {{"supportedVersions", {"2026-07-28"}},
                                                     {"capabilities", {{"tools", {{"listChanged", true}}}}}});
  const auto subscription = f.server.take("subscriptions/listen");
  f.server.answer(f.server.take("tools/list"), echo_list);
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

namespace {
const json form = {
    {"message", "Which name?"},
    {"requestedSchema", {{"type", "object"}, {"properties", {{"name", {{"type", "string"}}}}}}}};
}

TEST_CASE("a question in the older revision: the server waits, and gets the answer") {
  fixture f;
  f.open_legacy();
  call c;
  c.start(f.tool());
  const auto asked = f.server.take("tools/call");
  f.server.say({{"id", 99}, {"method", "elicitation/create"}, {"params", form}});
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
  fixture f;
  f.open_legacy();
  call first("c1");
  call second("c2");
  first.start(f.tool());
  second.start(f.tool());
  const auto one = f.server.take("tools/call");
  f.server.take("tools/call");
  f.server.say({{"id", 99}, {"method", "elicitation/create"}, {"params", form}});
  REQUIRE(second.only().question);
  call third("c3"); // begins meanwhile
  third.start(f.tool());
  f.server.take("tools/call");
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
  fixture f;
  f.open_legacy();
  call c;
  c.start(f.tool());
  f.server.take("tools/call");
  f.server.say({{"id", 99}, {"method", "elicitation/create"}, {"params", form}});
  c.again(f.tool(), json{{"name", "Ada"}});
  f.clock.advance(10s);
  REQUIRE(c.results.size() == 2);
  CHECK(c.results[1].failed == errc::timeout);
}

TEST_CASE("a result that comes while the user is asked is kept, and an end too") {
  fixture f;
  f.open_legacy();
  call c;
  c.start(f.tool());
  const auto asked = f.server.take("tools/call");
  f.server.say({{"id", 99}, {"method", "elicitation/create"}, {"params", form}});
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
  fixture f;
  f.open_modern();
  call c;
  c.start(f.tool(), {{"x", 1}});
  const auto asked = f.server.take("tools/call");
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
  fixture f;
  f.options.limits.max_input_rounds = 3;
  f.open_modern();
  call c;
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
  fixture f;
  f.options.limits.max_parked = 1;
  f.open_modern();
  const json round = {{"resultType", "input_required"},
                      {"inputRequests", {{"a", {{"method", "elicitation/create"}, {"params", form}}}}}};
  call never("c0");
  never.again(f.tool(), json{{"name", "x"}});
  CHECK(never.only().failed == errc::interrupted);
  // The oldest gives way.
  call first("c1");
  call second("c2");
  first.start(f.tool());
  f.server.answer(f.server.take("tools/call"), round);
  second.start(f.tool());
  f.server.answer(f.server.take("tools/call"), round);
  first.again(f.tool(), json{{"name", "x"}});
  CHECK(first.results.back().failed == errc::interrupted);
  second.again(f.tool(), json{{"name", "x"}});
  CHECK(second.results.size() == 1);
  f.server.answer(f.server.take("tools/call"), said_hi);
  CHECK(second.results.back().text == "hi");
  // And so does one that nobody answers.
  call third("c3");
  third.start(f.tool());
  f.server.answer(f.server.take("tools/call"), round);
  f.clock.advance(f.options.limits.question_timeout);
  third.again(f.tool(), json{{"name", "x"}});
  CHECK(third.results.back().failed == errc::interrupted);
}

TEST_CASE("resources are two more tools, unless the configuration leaves them out") {
  fixture f;
  SUBCASE("offered") {}
  SUBCASE("left out") {
    f.options.spec.exclude_tools = {"list_resources", "read_resource"};
  }
  f.open();
  f.server.answer(f.server.take("server/discover"),
                  {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"resources", json::object()}}}});
  REQUIRE(f.lists.size() == 1);
  if (!f.options.spec.exclude_tools.empty()) {
    CHECK(f.lists[0]->empty());
    return;
  }
  REQUIRE(f.lists[0]->size() == 2);
  call c;
  c.start(f.lists[0]->at(1), {{"uri", "demo://1"}});
  const auto asked = f.server.take("resources/read");
  CHECK(asked["params"]["uri"] == "demo://1");
  f.server.answer(asked, {{"contents", {{{"uri", "demo://1"}, {"text", "inside"}}}}});
  CHECK(c.only().text == "[resource demo://1]\ninside");
}

TEST_CASE(
    "after the last page of resources come the templates, and those that have more go on with their cursor") {
  fixture f;
  f.open();
  f.server.answer(f.server.take("server/discover"),
                  {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"resources", json::object()}}}});
  REQUIRE(f.lists.size() == 1);
  const auto list = f.lists[0]->at(0);
  const json resource = {{"uri", "demo://1"}, {"name", "One"}};
  const json pattern = {{"uriTemplate", "demo://{id}"}, {"name", "Any"}};
  call first("c1");
  first.start(list);
  f.server.answer(f.server.take("resources/list"),
                  {{"resources", json::array({resource})}, {"nextCursor", "2"}});
  CHECK(first.only().text == "[resource demo://1: One]\nMore with cursor: 2");
  call second("c2");
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
    call third("c3");
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

TEST_CASE("after the source has closed its tools fail, and calls under way are answered") {
  fixture f;
  f.open_modern();
  const auto tool = f.tool();
  call under_way;
  under_way.start(tool);
  f.link->close();
  CHECK(under_way.only().failed == errc::shutting_down);
  CHECK(f.server.open == 0);
  call c("c2");
  c.start(tool);
  CHECK(c.only().failed == errc::shutting_down);
  f.link.reset();
  call d("c3");
  d.start(tool);
  CHECK(d.only().failed == errc::shutting_down);
  CHECK(f.clock.waiting() == 0);
}

TEST_CASE("more requests than allowed fail at once") {
  fixture f;
  f.options.limits.max_pending = 2;
  f.open_modern();
  call a("1");
  call b("2");
  call c("3");
  a.start(f.tool());
  b.start(f.tool());
  c.start(f.tool());
  CHECK(c.only().failed == errc::busy);
  CHECK(a.results.empty());
}
