// What both sides of MCP say: versions, the `_meta` of requests, the opening exchange.
//
// Protocol: modelcontextprotocol.io/specification, the stateless revision 2026-07-28 ("modern") and those with a
// session, 2024-11-05 to 2025-11-25 ("legacy"). Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/internal/json_member.hpp>
#include <troupe/net/json_rpc.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::net {

namespace mcp_key {
inline constexpr const char* version = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* capabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* client = "io.modelcontextprotocol/clientInfo";
inline constexpr const char* server = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* subscription = "io.modelcontextprotocol/subscriptionId";
inline constexpr const char* hops = "dev.troupe/hops"; // how many programs' agents stand above the call
} // namespace mcp_key

namespace mcp_code {
inline constexpr int header_mismatch = -32020;
inline constexpr int missing_capability = -32021;
inline constexpr int unsupported_version = -32022;
inline constexpr int resource_not_found = -32002; // until 2025-11-25
} // namespace mcp_code

inline constexpr std::string_view mcp_modern_version = "2026-07-28";
inline constexpr std::string_view mcp_legacy_version = "2025-11-25";

enum class mcp_era : std::uint8_t { unknown, modern, legacy };

[[nodiscard]] bool is_mcp_legacy_version(std::string_view version) noexcept;

// Who speaks: our name and version, for both sides.
struct mcp_identity {
  std::string name = "troupe";
  std::string version = "0";
};

// What a server has said about itself.
struct mcp_peer {
  mcp_era era = mcp_era::unknown;
  std::string version{};
  std::string name{}; // as it calls itself; may be empty
  bool has_tools = false;
  bool has_resources = false;
  bool tells_changes = false; // of its list of tools
};

// What goes with a request in `params._meta`.
struct mcp_request_meta {
  nlohmann::json progress_token{}; // null: no progress is wanted
  std::string traceparent{};
  std::uint32_t hops = 0; // 0 is not sent
};

// Our capabilities as a client: we answer questions (elicitation, forms) and name the workspace (roots).
[[nodiscard]] nlohmann::json mcp_client_capabilities(mcp_era era);

// The result of roots/list: the workspace, or nothing when its URI is empty.
[[nodiscard]] nlohmann::json mcp_roots(const std::string& workspace_uri);

// Puts `_meta` into `params`, as the era wants it.
void add_mcp_meta(nlohmann::json& params, mcp_era era, const mcp_identity& self,
                  const mcp_request_meta& meta);

[[nodiscard]] nlohmann::json mcp_initialize_params(const mcp_identity& self);

// The result of server/discover; fails with protocol when it does not offer the modern revision.
[[nodiscard]] result<mcp_peer> read_mcp_discover(const nlohmann::json& value);
// The result of initialize; fails with protocol when the server chose a revision that we do not speak.
[[nodiscard]] result<mcp_peer> read_mcp_initialize(const nlohmann::json& value);

} // namespace troupe::net
