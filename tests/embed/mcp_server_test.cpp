// Agents of a runtime as tools of an MCP server: which runs the client's words reach.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/mcp_server.hpp>
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "support/shell_mcp.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// What the server writes.
class client {
 public:
  void take(const std::string& message) {
    {
      std::lock_guard lock{mutex_};
      got_.push_back(json::parse(message));
    }
    came_.notify_all();
  }
  // The first message that has not been taken.
  json next() {
    std::unique_lock lock{mutex_};
    REQUIRE(came_.wait_for(lock, 60s, [this] { return !got_.empty(); }));
    auto first = got_.front();
    got_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<json> got_;
};

std::string line(const json& id, const std::string& prompt) {
  return json{{"jsonrpc", "2.0"},
              {"id", id},
              {"method", "tools/call"},
              {"params",
               {{"name", "boss"},
                {"arguments", {{"prompt", prompt}, {"session", "one"}}},
                {"_meta", {{"progressToken", id}}}}}}
             .dump() +
         "\n";
}

std::string cancel(const json& id) {
  return json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}
             .dump() +
         "\n";
}

// Calls the tool that the prompt names, and tells its result.
model_response call_named(const model_request& request) {
  if (request.contents.back()->role == role::tool)
    return text_response(std::get<tool_result_part>(request.contents.back()->parts.back().value).text);
  return call_response(request.contents.back()->text(), json::object());
}

} // namespace

TEST_CASE("a cancelled call ends its own run, whether it has begun or waits for others of the session") {
  temporary_folder f;
  client c;
  runtime rt{{.mcp_servers = {shell_mcp("sh", f.path() / "pids")}}};
  rt.add_model("rules", function_model(call_named));
  mcp_server_options options;
  options.agents.push_back(rt.create_deep_agent({.name = "boss", .model = "rules", .instruction = "Do."}));
  options.write = [&c](const std::string& message) { c.take(message); };
  mcp_server server{rt, std::move(options)};
  CHECK(server.feed(line(1, "mcp_sh_hang")));
  while (c.next()["params"]["message"] != "boss calls mcp_sh_hang") {
  }
  CHECK(server.feed(line(2, "mcp_sh_hello") + line(3, "mcp_sh_hello")));
  CHECK(server.feed(cancel(2)));
  CHECK(server.feed(cancel(1)));
  for (;;) {
    const auto message = c.next();
    if (message.contains("method"))
      continue;
    CHECK(message["id"] == 3);
    CHECK(message["result"]["structuredContent"]["text"] == "hi");
    break;
  }
  server.close();
}
