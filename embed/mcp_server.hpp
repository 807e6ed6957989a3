// Agents of a runtime as tools of an MCP server, for one client: messages in, messages out; docs/mcp.md.
//
// Thread-safe. It keeps what it needs of the runtime; end it first.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct mcp_server_options {
  std::vector<agent> agents{}; // each is a tool of its name
  std::string version{};
  std::uint32_t max_hops = 4; // programs of agents that a call may have come through
  std::size_t max_calls = 64; // under way
  std::size_t max_message_bytes = 16 * 1024 * 1024;
  on_busy busy = on_busy::wait;
  on_background_result background = on_background_result::wake;
  std::chrono::milliseconds question_timeout = std::chrono::hours{24};
  // Gets one message at a time, without a line end, on any thread; must not block for long.
  std::function<void(std::string message)> write{};
};

class mcp_server {
 public:
  mcp_server(runtime& rt, mcp_server_options options);
  // close().
  ~mcp_server();
  mcp_server(const mcp_server&) = delete;
  mcp_server& operator=(const mcp_server&) = delete;

  // Bytes of the client as they come, one message a line; one caller at a time. False when a line has more than
  // max_message_bytes: nothing can be read any more then.
  [[nodiscard]] bool feed(std::string_view bytes);
  // The client is gone: its runs are cancelled, and nothing is written any more. Waits for a `write` that is under way
  // on another thread.
  void close();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

} // namespace troupe
