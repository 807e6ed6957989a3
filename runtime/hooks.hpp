// Functions that a program puts before and after agents, model calls and tool calls.
//
// They run in the agent that they watch, on a thread of the scheduler, one at a time, and must return: one that never does
// holds that thread, and the end of the runtime, for ever. One that takes longer than `time_limit` is
// reported with a warning event and, where it was to allow a tool call, the call is denied. An exception of a hook is
// an error event; before a tool call it denies the call.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/outcome.hpp>
#include <troupe/runtime/ports/model_provider.hpp>
#include <troupe/runtime/tool.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace troupe {

// Who the hook is called for.
struct hook_context {
  session_id session;
  agent_id agent;
  std::string agent_name;
  std::uint32_t turn = 0;
};

// What before_tool decides: nothing set lets the call pass.
struct tool_verdict {
  std::optional<std::string> deny;         // the reason, which the model reads
  std::optional<tool_result> replace;      // answers instead of the tool
  std::optional<nlohmann::json> arguments; // other arguments; they are checked like the model's
};

struct hooks {
  // May change the request text. Throwing fails the agent.
  std::function<void(const hook_context&, content& request)> before_agent;
  // May change the outcome.
  std::function<void(const hook_context&, outcome& result)> after_agent;
  // May change the request, or answer it in the model's place.
  std::function<std::optional<model_response>(const hook_context&, model_request& request)> before_model;
  // May change the answer.
  std::function<void(const hook_context&, model_response& response)> after_model;
  std::function<tool_verdict(const hook_context&, const std::string& tool, const nlohmann::json& arguments)>
      before_tool;
  // May change the result.
  std::function<void(const hook_context&, const std::string& tool, tool_result& result)> after_tool;
  std::function<void(const hook_context&, const error& what)> on_error;

  std::chrono::milliseconds time_limit{250};
};

} // namespace troupe
