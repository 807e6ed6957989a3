// A connection to an MCP server over a transport in memory, with time that the test advances.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/mcp/internal/mcp_server_link.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/manual_timer.hpp"

namespace troupe::test {

using namespace std::chrono_literals;
using namespace troupe::net;
using nlohmann::json;

// What a server sees, and what it says.
struct mcp_wire {
  std::deque<json> sent; // that have not been taken
  std::weak_ptr<mcp_transport_events> to;
  std::vector<mcp_request_id> cancelled;
  int opened = 0;
  int open = 0;
  bool refuses = false;
  std::function<void()> on_send{}; // while the connection sends

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

class mcp_wire_transport final : public mcp_transport {
 public:
  explicit mcp_wire_transport(mcp_wire& w) : wire_(w) { ++wire_.opened, ++wire_.open; }
  ~mcp_wire_transport() override { --wire_.open; }
  void start(std::weak_ptr<mcp_transport_events> to) override {
    wire_.to = std::move(to);
    if (wire_.refuses)
      wire_.to.lock()->on_closed(
          {errc::connection_failed, "MCP server 'srv' cannot be started: no such program"});
  }
  void send(mcp_outgoing message) override {
    wire_.sent.push_back(json::parse(message.text));
    if (wire_.on_send)
      wire_.on_send();
  }
  void cancel(mcp_request_id id) override { wire_.cancelled.push_back(id); }
  void speak(const mcp_peer&) override {}

 private:
  mcp_wire& wire_;
};

inline const json echo = {
    {"name", "echo"}, {"description", "Echoes."}, {"inputSchema", {{"type", "object"}}}};
inline const json said_hi = {{"content", {{{"type", "text"}, {"text", "hi"}}}}};
inline const json tools_offered = {{"tools", json::object()}};
inline const json form = {
    {"message", "Which name?"},
    {"requestedSchema", {{"type", "object"}, {"properties", {{"name", {{"type", "string"}}}}}}}};

// One call of a tool, and what has come of it.
struct mcp_call {
  std::shared_ptr<tool_context> context = std::make_shared<tool_context>();
  std::stop_source stop;
  std::shared_ptr<std::vector<tool_result>> kept = std::make_shared<std::vector<tool_result>>();
  std::vector<tool_result>& results = *kept; // a call may be answered when the test has ended

  explicit mcp_call(const char* id = "c1") {
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

struct mcp_link_fixture {
  mcp_wire server;
  manual_timer clock;
  mcp_link_options options;
  std::vector<std::string> logged;
  std::shared_ptr<mcp_server_link> link;
  std::vector<result<std::vector<tool_ptr>>> lists;

  mcp_link_fixture() {
    options.spec.name = "srv";
    options.spec.timeout = 10s;
    options.spec.max_call_time = 60s;
    options.root_uri = "file:///work";
    options.connect = [this] { return std::make_unique<mcp_wire_transport>(server); };
    options.log = [this](log_level, std::string_view text) { logged.emplace_back(text); };
  }
  ~mcp_link_fixture() {
    if (link)
      link->close();
    CHECK(server.open == 0);
  }
  void open() {
    if (!link)
      link = std::make_shared<mcp_server_link>(clock, options);
    link->open([this](result<std::vector<tool_ptr>> r) { lists.push_back(std::move(r)); });
  }
  // The next steps of a server's start.
  void say_modern(const json& capabilities = tools_offered) {
    server.answer(server.take("server/discover"),
                  {{"supportedVersions", {"2026-07-28"}}, {"capabilities", capabilities}});
  }
  void say_legacy(const json& hello, const char* version) {
    server.answer(hello, {{"protocolVersion", version}, {"capabilities", tools_offered}});
    server.take("notifications/initialized");
    list_echo();
  }
  void list_echo() { server.answer(server.take("tools/list"), {{"tools", json::array({echo})}}); }
  void open_modern(bool tells_changes = false) {
    open();
    say_modern({{"tools", {{"listChanged", tells_changes}}}});
    if (tells_changes)
      CHECK(server.take("subscriptions/listen")["params"]["notifications"]["toolsListChanged"] == true);
    list_echo();
  }
  void open_legacy() {
    open();
    server.refuse(server.take("server/discover"), -32601);
    const auto hello = server.take("initialize");
    CHECK(hello["params"]["protocolVersion"] == "2025-11-25");
    CHECK_FALSE(hello["params"].contains("_meta"));
    say_legacy(hello, "2025-06-18");
  }
  tool_ptr tool() {
    REQUIRE_FALSE(lists.empty());
    REQUIRE(lists.back());
    REQUIRE_FALSE(lists.back()->empty());
    return lists.back()->front();
  }
  // The request that a call of the only tool becomes.
  json begin(mcp_call& c, json arguments = json::object()) {
    c.start(tool(), std::move(arguments));
    return server.take("tools/call");
  }
  // The server's question in the older revision.
  void ask_form() { server.say({{"id", 99}, {"method", "elicitation/create"}, {"params", form}}); }
};

} // namespace troupe::test
