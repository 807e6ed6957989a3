// Whatever an MCP server or client writes: both ends of the protocol go on.
//
// Each line of the input is one message. It reaches a client that has a call under way, over a transport in memory, and a
// server whose agents answer at once; what they read of results is read with small limits.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/line_reader.hpp>
#include <troupe/net/mcp/internal/mcp_server_link.hpp>
#include <troupe/net/mcp/server/mcp_server_session.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../support/manual_timer.hpp"

using namespace troupe;
using namespace troupe::net;
using nlohmann::json;

namespace {

struct silent final : mcp_transport {
  explicit silent(std::weak_ptr<mcp_transport_events>& to) : to_(to) {}
  void start(std::weak_ptr<mcp_transport_events> to) override { to_ = std::move(to); }
  void send(mcp_outgoing) override {}
  void cancel(mcp_request_id) override {}
  void speak(const mcp_peer&) override {}
  std::weak_ptr<mcp_transport_events>& to_;
};

struct quick final : mcp_agents {
  std::vector<mcp_served_agent> names{{"a", ""}};
  struct run final : mcp_agent_run {
    void cancel() override {}
    void answer(const std::string&, std::optional<json>) override {}
  };
  [[nodiscard]] const std::vector<mcp_served_agent>& list() const override { return names; }
  std::shared_ptr<mcp_agent_run> start(mcp_run_request request,
                                       std::shared_ptr<mcp_run_events> events) override {
    events->on_question({"q", "?", {{"type", "boolean"}}});
    if (request.prompt != "wait")
      events->on_end({outcome::make_completed(request.prompt), "s", {}});
    return std::make_shared<run>();
  }
};

void feed_client(std::string_view input) {
  test::manual_timer clock;
  std::weak_ptr<mcp_transport_events> to;
  mcp_link_options options;
  options.spec.name = "f";
  options.limits.max_message_bytes = 1 << 16;
  options.limits.max_schema_bytes = 4096;
  options.connect = [&to] { return std::make_unique<silent>(to); };
  auto link = std::make_shared<mcp_server_link>(clock, options);
  std::vector<tool_ptr> tools;
  const auto open = [&] {
    link->open([&tools](result<std::vector<tool_ptr>> got) {
      if (got)
        tools = *std::move(got);
    });
  };
  open();
  std::size_t calls = 0;
  line_reader lines{1 << 16};
  static_cast<void>(lines.feed(input, [&](std::string_view line) {
    if (auto events = to.lock())
      events->on_message(std::string{line}, 0);
    if (!tools.empty() && calls < 8) {
      auto context = std::make_shared<tool_context>();
      context->call = call_id{"c" + std::to_string(++calls % 4)};
      if (calls % 3 == 0)
        context->answer = tool_answer{json{{"x", 1}}};
      tools[calls % tools.size()]->start(std::make_shared<const json>(json::object()), context,
                                         [](tool_result) {});
    }
    open();
  }));
  clock.advance(std::chrono::seconds{40});
  link->close();
}

void feed_server(std::string_view input) {
  quick agents;
  mcp_server_session_options options;
  options.max_parked = 2;
  mcp_server_session server{agents, options, [](std::string text) {
                              if (!json::accept(text))
                                __builtin_trap();
                            }};
  line_reader lines{1 << 16};
  static_cast<void>(lines.feed(input, [&](std::string_view line) { server.take(std::string{line}); }));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  feed_client(input);
  feed_server(input);
  return 0;
}
