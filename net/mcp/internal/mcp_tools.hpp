// The lists of an MCP server: its tools, and names for them here.
//
// What servers write is untrusted: fields of other kinds than the protocol's count as absent, and bounds are kept. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/mcp/mcp_limits.hpp>
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/tool.hpp>

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

// An argument that also goes as a header line (x-mcp-header of its schema).
struct mcp_header_argument {
  std::vector<std::string> path; // of properties
  std::string header;            // "Mcp-Param-Region"
};

struct mcp_tool {
  std::string name;  // the server's
  std::string local; // ours: mcp_<server>_<tool>
  std::string description;
  nlohmann::json parameters;
  std::shared_ptr<const json_schema> compiled; // null: whoever needs it compiles it
  tool_annotations annotations;
  std::vector<mcp_header_argument> headers;
};

// One page of tools/list.
struct mcp_tool_page {
  std::vector<nlohmann::json> tools;
  std::string cursor; // of the next page; empty: it was the last
};

// Fails with protocol when it is no list of tools.
[[nodiscard]] result<mcp_tool_page> read_mcp_tool_page(const nlohmann::json& value);

struct mcp_tool_list {
  std::vector<mcp_tool> tools;
  std::vector<std::string> warnings; // what was left out, and why
};

// The tools that `spec` lets in, with names that are different from each other; the same list gives the same names.
[[nodiscard]] mcp_tool_list make_mcp_tools(const std::vector<nlohmann::json>& listed,
                                           const mcp_server_spec& spec, const mcp_limits& limits);

// `mcp_<server>_<tool>` of [A-Za-z0-9_-], at most 64 bytes; a name that had to be shortened ends with a hash.
[[nodiscard]] std::string mcp_tool_name(std::string_view server, std::string_view tool);

// The header lines for a call's arguments: name and encoded value.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
mcp_argument_headers(const std::vector<mcp_header_argument>& wanted, const nlohmann::json& arguments);

// A value for a header line: as it is, or as =?base64?…?= when it would not survive.
[[nodiscard]] std::string mcp_header_value(std::string_view text);

} // namespace troupe::net
