// Questions of agents as the forms that MCP clients show: a flat object of simple fields.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <optional>

namespace troupe::net {

// The schema of a form for an answer of `schema`. What is no flat object becomes the one field `answer`.
[[nodiscard]] nlohmann::json mcp_form_schema(const nlohmann::json& schema);

// The answer in a client's `{action, content}`; nothing when it was declined or makes no sense.
[[nodiscard]] std::optional<nlohmann::json> read_mcp_form(const nlohmann::json& schema,
                                                          const nlohmann::json& reply);

} // namespace troupe::net
