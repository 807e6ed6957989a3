// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_protocol.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <array>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr std::array legacy_versions = {std::string_view{"2025-11-25"}, std::string_view{"2025-06-18"},
                                        std::string_view{"2025-03-26"}, std::string_view{"2024-11-05"}};
constexpr std::size_t max_name_bytes = 200;

json identity(const mcp_identity& self) {
  return {{"name", self.name}, {"version", self.version}};
}

void read_capabilities(const json& capabilities, mcp_peer& out) {
  const auto& tools = member_of(capabilities, "tools");
  out.has_tools = tools.is_object();
  out.tells_changes = flag_of(tools, "listChanged", false);
  out.has_resources = member_of(capabilities, "resources").is_object();
}

std::string peer_name(const json& info) {
  return std::string{utf8_prefix(text_of(info, "name"), max_name_bytes)};
}

} // namespace

bool is_mcp_legacy_version(std::string_view version) noexcept {
  return std::find(legacy_versions.begin(), legacy_versions.end(), version) != legacy_versions.end();
}

json mcp_client_capabilities(mcp_era era) {
  if (era == mcp_era::modern)
    return {{"elicitation", {{"form", json::object()}}}, {"roots", json::object()}};
  return {{"elicitation", json::object()}, {"roots", {{"listChanged", false}}}};
}

json mcp_roots(const std::string& workspace_uri) {
  json roots = json::array();
  if (!workspace_uri.empty())
    roots.push_back({{"uri", workspace_uri}, {"name", "workspace"}});
  return {{"roots", std::move(roots)}};
}

void add_mcp_meta(json& params, mcp_era era, const mcp_identity& self, const mcp_request_meta& meta) {
  json out = json::object();
  if (era == mcp_era::modern) {
    out[mcp_key::version] = mcp_modern_version;
    out[mcp_key::capabilities] = mcp_client_capabilities(era);
    out[mcp_key::client] = identity(self);
  }
  if (!meta.progress_token.is_null())
    out["progressToken"] = meta.progress_token;
  if (!meta.traceparent.empty())
    out["traceparent"] = meta.traceparent;
  if (meta.hops != 0)
    out[mcp_key::hops] = meta.hops;
  if (!out.empty())
    params["_meta"] = std::move(out);
}

json mcp_initialize_params(const mcp_identity& self) {
  return {{"protocolVersion", mcp_legacy_version},
          {"capabilities", mcp_client_capabilities(mcp_era::legacy)},
          {"clientInfo", identity(self)}};
}

result<mcp_peer> read_mcp_discover(const json& value) {
  const auto& versions = member_of(value, "supportedVersions");
  if (!versions.is_array() ||
      std::find(versions.begin(), versions.end(), mcp_modern_version) == versions.end())
    return error{errc::protocol, "The server does not speak MCP " + std::string{mcp_modern_version} + "."};
  mcp_peer peer;
  peer.era = mcp_era::modern;
  peer.version = mcp_modern_version;
  peer.name = peer_name(member_of(member_of(value, "_meta"), mcp_key::server));
  read_capabilities(member_of(value, "capabilities"), peer);
  return peer;
}

result<mcp_peer> read_mcp_initialize(const json& value) {
  mcp_peer peer;
  peer.era = mcp_era::legacy;
  peer.version = text_of(value, "protocolVersion");
  if (!is_mcp_legacy_version(peer.version))
    return error{errc::protocol, "The server chose the revision \"" + cut_text(peer.version, 40) +
                                     "\" of MCP, which is not spoken here; those up to " +
                                     std::string{mcp_legacy_version} + " and " +
                                     std::string{mcp_modern_version} + " are."};
  peer.name = peer_name(member_of(value, "serverInfo"));
  read_capabilities(member_of(value, "capabilities"), peer);
  return peer;
}

} // namespace troupe::net
