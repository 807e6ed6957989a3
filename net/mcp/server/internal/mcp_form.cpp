// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_protocol.hpp>
#include <troupe/net/mcp/server/internal/mcp_form.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr const char* only_field = "answer";

bool is_simple(const json& schema) {
  const auto type = text_of(schema, "type");
  return type == "string" || type == "number" || type == "integer" || type == "boolean";
}

bool is_form(const json& schema) {
  const auto& fields = member_of(schema, "properties");
  return text_of(schema, "type") == "object" && fields.is_object() && !fields.empty() &&
         std::all_of(fields.begin(), fields.end(), is_simple);
}

} // namespace

json mcp_form_schema(const json& schema) {
  if (is_form(schema)) {
    json form = {{"type", "object"}, {"properties", schema["properties"]}};
    if (member_of(schema, "required").is_array())
      form["required"] = schema["required"];
    return form;
  }
  json field = is_simple(schema) ? schema : json{{"type", "string"}};
  if (!is_simple(schema) && !schema.is_null())
    field["description"] = "JSON for the schema " + cut_text(dump_json(schema), 2'000);
  return {{"type", "object"}, {"properties", {{only_field, std::move(field)}}}, {"required", {only_field}}};
}

std::optional<json> read_mcp_form(const json& schema, const json& reply) {
  const auto& content = member_of(reply, "content");
  if (text_of(reply, "action") != "accept" || !content.is_object())
    return std::nullopt;
  if (is_form(schema))
    return content;
  const auto& answer = member_of(content, only_field);
  if (answer.is_null())
    return std::nullopt;
  if (is_simple(schema) || schema.is_null() || !answer.is_string())
    return answer;
  auto parsed = parse_json(answer.get<std::string>());
  return parsed ? *std::move(parsed) : answer;
}

} // namespace troupe::net
