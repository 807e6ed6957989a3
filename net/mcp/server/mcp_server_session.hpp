// One client of the MCP server: messages in, messages out, agents as tools.
//
// Both revisions: a request with the newer one's `_meta` is served without a session; `initialize` begins the older one.
// A tool takes {prompt, session?} and gives {status, text, session, usage}; progress tells what the agent does; questions
// go to the client's user when it has the capability, and are denied otherwise. Every request gets exactly one answer,
// but for those that the client cancels. At most `max_calls` are under way, beyond it they are refused; those that wait
// for the client to come again are not counted among them.
//
// Thread-safe. `write` gets one message at a time, without a line end, on any thread; it must not block for long.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/mcp/server/mcp_agents.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace troupe::net {

struct mcp_server_session_options {
  std::string name = "troupe";
  std::string version = "0";
  std::string instructions{};
  std::uint32_t max_hops = 4;
  std::size_t max_calls = 64;  // under way
  std::size_t max_parked = 64; // that wait for an answer in the newer revision; the oldest gives way
  std::size_t max_message_bytes = 16 * 1024 * 1024;
};

class mcp_server_session {
 public:
  mcp_server_session(mcp_agents& agents, mcp_server_session_options options,
                     std::function<void(std::string)> write);
  // close().
  ~mcp_server_session();
  mcp_server_session(const mcp_server_session&) = delete;
  mcp_server_session& operator=(const mcp_server_session&) = delete;

  void take(std::string text);
  // The client is gone: what runs is cancelled, and nothing is written any more. Waits for a `write` that is under way
  // on another thread; afterwards the agents are not used.
  void close();

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace troupe::net
