// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_protocol.hpp>
#include <troupe/net/mcp/internal/mcp_tools.hpp>
#include <troupe/runtime/base64.hpp>
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <set>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr std::size_t max_local_name = 64;
constexpr std::size_t max_remote_name = 256;
constexpr std::size_t max_header_arguments = 16;
constexpr std::size_t max_header_depth = 8;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// A token of RFC 9110.
bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [&](char c) {
    return (is_word(c) && c != '\0') || marks.find(c) != std::string_view::npos;
  });
}

bool is_listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void find_headers(const json& schema, std::vector<std::string>& path, std::vector<mcp_header_argument>& out) {
  if (path.size() >= max_header_depth)
    return;
  const auto& properties = member_of(schema, "properties");
  if (!properties.is_object())
    return;
  for (const auto& [name, property] : properties.items()) {
    path.push_back(name);
    if (auto header = text_of(property, "x-mcp-header");
        is_token(header) && out.size() < max_header_arguments)
      out.push_back({path, "Mcp-Param-" + header});
    find_headers(property, path, out);
    path.pop_back();
  }
}

tool_annotations read_annotations(const json& listed, const mcp_server_spec& spec) {
  const auto& hints = member_of(listed, "annotations");
  tool_annotations out;
  // Ours is the first to end a call; it may have to start the server.
  out.timeout = spec.max_call_time + spec.startup_timeout;
  const bool reads = flag_of(hints, "readOnlyHint", false);
  // Whether a call may run twice is only believed of a server that is trusted; a warning costs nothing to believe.
  out.read_only = spec.trust && reads;
  out.idempotent = spec.trust && flag_of(hints, "idempotentHint", false);
  out.destructive = !(spec.trust && reads) && flag_of(hints, "destructiveHint", true);
  return out;
}

std::string described(const json& listed, const mcp_limits& limits) {
  auto text = text_of(listed, "description");
  if (text.empty())
    text = text_of(listed, "title");
  if (text.empty())
    text = text_of(member_of(listed, "annotations"), "title");
  return cut_text(text, limits.max_description_bytes);
}

// The parameters of a tool, or why they cannot be used.
result<json_schema> read_parameters(const json& listed, const mcp_limits& limits) {
  auto schema = member_of(listed, "inputSchema");
  if (!schema.is_object())
    return error{errc::bad_schema, "it has no inputSchema"};
  if (text_of(schema, "type") != "object")
    return error{errc::bad_schema, "its inputSchema is not of type object"};
  if (const auto bytes = dump_json(schema).size(); bytes > limits.max_schema_bytes)
    return error{errc::too_large, "its inputSchema has " + std::to_string(bytes) + " bytes, more than " +
                                      std::to_string(limits.max_schema_bytes)};
  auto compiled = json_schema::compile(schema);
  if (!compiled)
    return error{errc::bad_schema, "its inputSchema cannot be used: " + compiled.failure().message};
  return compiled;
}

std::string made_unique(std::string local, std::string_view remote, const std::set<std::string>& taken) {
  if (!taken.contains(local))
    return local;
  const auto tail = "_" + content_hash_hex(remote);
  return local.substr(0, max_local_name - tail.size()) + tail;
}

const json* at_path(const json& root, const std::vector<std::string>& path) {
  const auto* node = &root;
  for (const auto& key : path)
    if (node = &member_of(*node, key); node->is_null())
      return nullptr;
  return node;
}

} // namespace

result<mcp_tool_page> read_mcp_tool_page(const json& value) {
  const auto& tools = member_of(value, "tools");
  if (!tools.is_array())
    return error{errc::protocol, "The answer to tools/list has no list `tools`."};
  return mcp_tool_page{{tools.begin(), tools.end()}, text_of(value, "nextCursor")};
}

std::string mcp_tool_name(std::string_view server, std::string_view tool) {
  auto name = "mcp_" + std::string{server} + "_" + std::string{tool};
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_word(c); }, '_');
  if (name.size() <= max_local_name)
    return name;
  const auto tail = "_" + content_hash_hex(tool);
  return name.substr(0, max_local_name - tail.size()) + tail;
}

mcp_tool_list make_mcp_tools(const std::vector<json>& listed, const mcp_server_spec& spec,
                             const mcp_limits& limits) {
  mcp_tool_list out;
  std::set<std::string> remote;
  std::set<std::string> local;
  for (const auto& item : listed) {
    auto name = text_of(item, "name");
    const auto skip = [&](const std::string& why) {
      out.warnings.push_back("Tool \"" + cut_text(name, 80) + "\" is left out: " + why + ".");
    };
    if (name.empty() || name.size() > max_remote_name) {
      skip("its name is empty or too long");
      continue;
    }
    if ((!spec.include_tools.empty() && !is_listed(spec.include_tools, name)) ||
        is_listed(spec.exclude_tools, name))
      continue;
    if (out.tools.size() >= limits.max_tools) {
      out.warnings.push_back("The server has more than " + std::to_string(limits.max_tools) +
                             " tools; the others are left out.");
      break;
    }
    if (!remote.insert(name).second) {
      skip("there is already one of that name");
      continue;
    }
    auto parameters = read_parameters(item, limits);
    if (!parameters) {
      skip(parameters.failure().message);
      continue;
    }
    mcp_tool tool;
    tool.local = made_unique(mcp_tool_name(spec.name, name), name, local);
    if (!local.insert(tool.local).second) {
      skip("its name here would be that of another one");
      continue;
    }
    tool.name = std::move(name);
    tool.description = described(item, limits);
    tool.annotations = read_annotations(item, spec);
    std::vector<std::string> path;
    find_headers(parameters->document(), path, tool.headers);
    tool.parameters = parameters->document();
    tool.compiled = std::make_shared<const json_schema>(*std::move(parameters));
    out.tools.push_back(std::move(tool));
  }
  return out;
}

std::string mcp_header_value(std::string_view text) {
  const bool survives = !text.empty() && text.front() != ' ' && text.back() != ' ' &&
                        !text.starts_with("=?base64?") &&
                        std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return survives ? std::string{text} : "=?base64?" + encode_base64(text) + "?=";
}

std::vector<std::pair<std::string, std::string>>
mcp_argument_headers(const std::vector<mcp_header_argument>& wanted, const json& arguments) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [path, header] : wanted) {
    const auto* value = at_path(arguments, path);
    if (value == nullptr)
      continue;
    if (value->is_string())
      out.emplace_back(header, mcp_header_value(value->get_ref<const std::string&>()));
    else if (value->is_boolean() || value->is_number_integer())
      out.emplace_back(header, value->dump());
  }
  return out;
}

} // namespace troupe::net
