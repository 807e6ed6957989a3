// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/acp/internal/acp_content.hpp>
#include <troupe/net/internal/json_member.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr std::size_t max_options = 12;
constexpr std::size_t max_servers = 64;

// What stands before an attached file, so that the model knows where it comes from.
std::string named(const std::string& uri, const std::string& text) {
  return "<file uri=\"" + uri + "\">\n" + text + "\n</file>";
}

bool add_block(const json& block, content& out) {
  const auto type = text_of(block, "type");
  if (type == "text") {
    out.parts.push_back({text_part{text_of(block, "text")}, {}});
  } else if (type == "image" || type == "audio") {
    out.parts.push_back({data_part{text_of(block, "mimeType"), text_of(block, "data"), {}}, {}});
  } else if (type == "resource_link") {
    out.parts.push_back({text_part{"[" + text_of(block, "name") + "](" + text_of(block, "uri") + ")"}, {}});
  } else if (type == "resource" && block.contains("resource")) {
    const auto& resource = block["resource"];
    if (auto blob = text_of(resource, "blob"); !blob.empty())
      out.parts.push_back({data_part{text_of(resource, "mimeType"), std::move(blob), {}}, {}});
    else
      out.parts.push_back({text_part{named(text_of(resource, "uri"), text_of(resource, "text"))}, {}});
  } else {
    return false;
  }
  return true;
}

// In the values of a spec '$' begins a variable.
std::string literal(const std::string& text) {
  std::string out;
  for (char c : text)
    out.append(c == '$' ? 2 : 1, c);
  return out;
}

// [{"name": …, "value": …}, …]
std::map<std::string, std::string> named_values(const json& list) {
  std::map<std::string, std::string> values;
  if (list.is_array())
    for (const auto& item : list)
      values.insert_or_assign(text_of(item, "name"), literal(text_of(item, "value")));
  return values;
}

// What a name of tools may hold.
std::string clean_name(const std::string& name) {
  std::string out;
  for (char c : name)
    out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ? c : '_';
  return out;
}

json option(std::size_t index, std::string name, const char* kind) {
  return {{"optionId", std::to_string(index)}, {"name", std::move(name)}, {"kind", kind}};
}

} // namespace

result<content> read_prompt(const json& blocks) {
  content out;
  out.role = role::user;
  if (!blocks.is_array() || blocks.empty())
    return error{errc::bad_arguments, "prompt: a list of content blocks, not empty, is wanted."};
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (!add_block(blocks[i], out))
      return error{errc::bad_arguments,
                   "prompt[" + std::to_string(i) + "]: there is no such kind of content."};
  return out;
}

result<std::vector<mcp_server_spec>> read_editor_servers(const json& list) {
  std::vector<mcp_server_spec> servers;
  if (list.is_null())
    return servers;
  if (!list.is_array() || list.size() > max_servers)
    return error{errc::bad_arguments,
                 "mcpServers: a list of servers is wanted, at most " + std::to_string(max_servers) + "."};
  for (const auto& item : list) {
    mcp_server_spec spec;
    spec.name = clean_name(text_of(item, "name"));
    spec.command = text_of(item, "command");
    spec.url = text_of(item, "url");
    if (spec.name.empty() || spec.command.empty() == spec.url.empty() || text_of(item, "type") == "sse")
      return error{errc::bad_arguments, "mcpServers: \"" + spec.name +
                                            "\" needs a name, and a command or a URL of streamable HTTP."};
    if (auto args = item.find("args"); args != item.end() && args->is_array())
      for (const auto& arg : *args)
        spec.args.push_back(arg.is_string() ? literal(arg.get<std::string>()) : std::string{});
    spec.env = named_values(item.value("env", json{}));
    spec.headers = named_values(item.value("headers", json{}));
    servers.push_back(std::move(spec));
  }
  return servers;
}

acp_choice choice_of(const question_body& question) {
  acp_choice choice;
  const auto& schema = question.schema;
  if (text_of(schema, "type") == "boolean") {
    choice.options = {option(0, "Allow", "allow_once"), option(1, "Reject", "reject_once")};
    choice.values = {true, false};
    return choice;
  }
  auto values = schema.is_object() ? schema.find("enum") : schema.end();
  if (values == schema.end() || !values->is_array() || values->size() > max_options)
    return choice;
  for (const auto& value : *values) {
    const auto name = value.is_string() ? value.get<std::string>() : dump_json(value);
    choice.options.push_back(option(choice.values.size(), shown(name), "allow_once"));
    choice.values.push_back(value);
  }
  return choice;
}

json answer_of(const std::string& text, const json& schema) {
  const auto type = text_of(schema, "type");
  if (type.empty() || type == "string")
    return text;
  if (auto parsed = parse_json(text))
    return std::move(*parsed);
  return text;
}

std::variant<std::string, rpc_error> stop_of(const outcome& ended) {
  if (ended.completed() || ended.recovered())
    return "end_turn";
  if (ended.cancelled())
    return "cancelled";
  switch (ended.code()) {
  case errc::max_turns:
    return "max_turn_requests";
  case errc::budget:
    return "max_tokens";
  case errc::model_refused:
    return "refusal";
  case errc::needs_input:
    return "end_turn";
  default:
    return rpc_error{rpc_code::internal_error,
                     shown(to_string(error{ended.code(), ended.detail()})),
                     {{"code", to_string(ended.code())}}};
  }
}

} // namespace troupe::net
