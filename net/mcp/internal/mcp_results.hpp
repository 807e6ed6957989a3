// What MCP servers answer, as what the runtime takes: results of calls, questions, resources.
//
// Untrusted: bytes that are not base64 and media types that are none become a word in the text. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/json_rpc.hpp>
#include <troupe/net/mcp/mcp_limits.hpp>
#include <troupe/runtime/tool.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

// The result of tools/call.
[[nodiscard]] tool_result read_mcp_call_result(const nlohmann::json& value, const mcp_limits& limits);
// The result of resources/read.
[[nodiscard]] tool_result read_mcp_resource(const nlohmann::json& value, const mcp_limits& limits);
// The result of resources/list, as a text for the model.
[[nodiscard]] tool_result read_mcp_resource_list(const nlohmann::json& value, const mcp_limits& limits);
// The result of resources/templates/list, likewise. Cursors of it are shown to the model with this before them.
inline constexpr std::string_view mcp_template_cursor = "templates:";
[[nodiscard]] tool_result read_mcp_template_list(const nlohmann::json& value, const mcp_limits& limits);

// What a server wants to know before it answers (input_required, 2026-07-28).
struct mcp_input_request {
  std::string key;
  std::string method;
  nlohmann::json params;
};
struct mcp_input_round {
  std::vector<mcp_input_request> requests;
  std::optional<std::string> state; // goes back as it came
};

// Nothing when the result is one; a failure when it is neither a result nor a round that can be used.
[[nodiscard]] std::optional<result<mcp_input_round>> read_mcp_input_round(const nlohmann::json& value,
                                                                          const mcp_limits& limits);

// The question of elicitation/create; fails with protocol when it cannot be asked here.
[[nodiscard]] result<tool_question> read_mcp_elicitation(const nlohmann::json& params,
                                                         const mcp_limits& limits);
// The result of elicitation/create: accepted with the answer, or declined.
[[nodiscard]] nlohmann::json mcp_elicitation_answer(const tool_answer& answer, const nlohmann::json& schema);

// An error of the server, as the failed result of a call of `tool`.
[[nodiscard]] tool_result mcp_call_failure(const rpc_error& error, std::string_view server);

} // namespace troupe::net
