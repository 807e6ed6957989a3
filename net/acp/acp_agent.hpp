// An agent for editors: the Agent Client Protocol, version 1, over lines of JSON.
//
// Sessions, prompts with texts, images and files, streamed answers and thoughts, tool calls (children too), plans, questions
// as permission requests, cancellation, and sessions that are loaded from the store. A question that has no choices is said
// by the agent; the next prompt answers it.
//
// Ownership: `send` and the host outlive the agent. All work is done on one thread of its own, in order; take() may be
// called from any thread and only queues. Source: agentclientprotocol.com, schema version 1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/ports/engine.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::net {

// Where sessions of one folder run.
struct acp_place {
  engine* runs = nullptr; // valid as long as `owner` is held
  agent_profile_ptr root{};
  run_limits limits{};
  std::shared_ptr<void> owner{};
};

class acp_host {
 public:
  virtual ~acp_host() = default;
  // The place for sessions that work in this folder, an absolute path, with these MCP servers. May block.
  [[nodiscard]] virtual result<acp_place> place(const std::string& folder,
                                                const std::vector<mcp_server_spec>& mcp_servers) = 0;
};

struct acp_options {
  std::string version{};                        // of the program
  std::size_t max_sessions = 64;                // that are open at a time
  std::size_t max_partial_bytes = 256 * 1024;   // streamed pieces that wait, for each session
  json_limits messages{.max_bytes = 64U << 20}; // of one line
};

class acp_agent {
 public:
  acp_agent(acp_host& host, std::function<void(std::string line)> send, acp_options options = {});
  // Cancels what runs.
  ~acp_agent();
  acp_agent(const acp_agent&) = delete;
  acp_agent& operator=(const acp_agent&) = delete;

  // A line from the editor, without its end.
  void take(std::string line);

  // Waits until what was taken so far has been done; false when that takes longer.
  bool settle(std::chrono::milliseconds limit);

 private:
  class connection;
  std::shared_ptr<connection> connection_;
};

} // namespace troupe::net
