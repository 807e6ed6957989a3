// What an MCP server serves: agents, whose runs are calls of tools. Embedding implements it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/ids.hpp>
#include <troupe/messages/outcome.hpp>
#include <troupe/messages/usage.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::net {

struct mcp_served_agent {
  std::string name; // of the tool
  std::string description;
};

struct mcp_run_request {
  std::string agent;
  std::string prompt;
  std::string session;     // empty: a new one
  std::uint32_t hops = 0;  // agents of other programs that stand above the run
  bool answerable = false; // the client asks its user
};

struct mcp_run_question {
  std::string id;
  std::string message;
  nlohmann::json schema; // of the answer
};

struct mcp_run_end {
  troupe::outcome outcome;
  std::string session;
  usage used;
};

// Called on any thread, one at a time for a run; short. on_end is the last, and comes exactly once.
class mcp_run_events {
 public:
  virtual ~mcp_run_events() = default;
  virtual void on_progress(std::string what) = 0;
  virtual void on_question(mcp_run_question question) = 0;
  // Answered, by whoever, or withdrawn.
  virtual void on_question_closed(std::string question) = 0;
  virtual void on_end(mcp_run_end end) = 0;
};

// Thread-safe. Dropping it does not end the run.
class mcp_agent_run {
 public:
  virtual ~mcp_agent_run() = default;
  virtual void cancel() = 0;
  // Nothing: the user did not answer.
  virtual void answer(const std::string& question, std::optional<nlohmann::json> value) = 0;
};

// Thread-safe.
class mcp_agents {
 public:
  virtual ~mcp_agents() = default;
  [[nodiscard]] virtual const std::vector<mcp_served_agent>& list() const = 0;
  // Never null; what goes wrong is an outcome. `request.agent` is one of list().
  [[nodiscard]] virtual std::shared_ptr<mcp_agent_run> start(mcp_run_request request,
                                                             std::shared_ptr<mcp_run_events> events) = 0;
};

} // namespace troupe::net
