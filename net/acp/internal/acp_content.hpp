// The small translations between the Agent Client Protocol and ours. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>
#include <troupe/messages/event.hpp>
#include <troupe/messages/outcome.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/net/json_rpc.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::net {

// The blocks of a prompt as a message. Fails with bad_arguments, naming the block.
[[nodiscard]] result<content> read_prompt(const nlohmann::json& blocks);

// The list of MCP servers that an editor sends. Values stand for themselves; a mistake names the server.
[[nodiscard]] result<std::vector<mcp_server_spec>> read_editor_servers(const nlohmann::json& list);

// A question as a choice of options and what each means; no options: it is answered with a text.
struct acp_choice {
  nlohmann::json options = nlohmann::json::array(); // of session/request_permission
  std::vector<nlohmann::json> values{};             // of the options with ids "0", "1", …
};
[[nodiscard]] acp_choice choice_of(const question_body& question);

// The answer that a text means to a question: JSON where its schema wants something else than text.
[[nodiscard]] nlohmann::json answer_of(const std::string& text, const nlohmann::json& schema);

// How a run that ended answers its prompt: a stop reason, or an error.
[[nodiscard]] std::variant<std::string, rpc_error> stop_of(const outcome& ended);

} // namespace troupe::net
