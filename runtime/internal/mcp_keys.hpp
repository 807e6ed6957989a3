// The keys of MCP servers, in the configuration and in agent files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/internal/yaml_reader.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>

#include <span>
#include <vector>

namespace troupe::internal {

// Reads a map from names of servers to their settings. A server with a mistake is left out. `lenient` reads Gemini CLI's
// names as well (httpUrl, http_url, includeTools, excludeTools) and numbers of milliseconds, and what it has beyond ours
// (type, auth, tcp) is told by a warning.
void read_mcp_servers(yaml_reader& reader, const yaml_value& in, bool lenient,
                      std::vector<mcp_server_spec>& out);

// For the reference.
[[nodiscard]] std::span<const yaml_key<mcp_server_spec>> mcp_server_keys() noexcept;

} // namespace troupe::internal
