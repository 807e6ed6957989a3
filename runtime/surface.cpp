// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::string_view safe_keys[] = {"call_id", "question_id", "task_id", "name",
                                          "kind",    "model",       "status",  "code"};

// Within a schema: the values that it names, of a property whose name tells a secret or not, and its words.
json mask_schema(const json& schema, bool secret) {
  static constexpr std::string_view value_keys[] = {"default", "const", "enum", "examples"};
  if (schema.is_string())
    return sanitize_text(schema.get_ref<const std::string&>());
  if (!schema.is_structured())
    return schema;
  json masked = schema;
  for (auto item = masked.begin(); item != masked.end(); ++item) {
    const auto key = schema.is_object() ? std::string_view{item.key()} : std::string_view{};
    if (std::find(std::begin(value_keys), std::end(value_keys), key) != std::end(value_keys)) {
      *item = secret ? json("[REDACTED]") : sanitize_json(*item);
    } else if (key == "properties" && item->is_object()) {
      for (auto& [name, property] : item->items())
        property = mask_schema(property, is_secret_key(name));
    } else {
      *item = mask_schema(*item, secret);
    }
  }
  return masked;
}

// A body: texts of its own are masked, and values within it by their keys; words and ids of ours stay.
json mask_body(const json& body) {
  if (!body.is_object())
    return body.is_string() ? json(sanitize_text(body.get_ref<const std::string&>())) : sanitize_json(body);
  json masked = json::object();
  for (const auto& [key, value] : body.items()) {
    const bool ours = std::find(std::begin(safe_keys), std::end(safe_keys), key) != std::end(safe_keys);
    if (ours && value.is_string())
      masked[key] = value;
    else if (key == "schema")
      masked[key] = mask_schema(value, false);
    else if (key == "outcome" && value.is_object())
      masked[key] = mask_body(value);
    else if (value.is_string())
      masked[key] = sanitize_text(value.get_ref<const std::string&>());
    else
      masked[key] = sanitize_json(value);
  }
  return masked;
}

} // namespace

std::string shown(std::string_view text) {
  return escape_controls(sanitize_text(text));
}

json shown_json(const event& e) {
  json j = e;
  j["body"] = e.kind() == event_kind::state ? sanitize_json(j["body"]) : mask_body(j["body"]);
  return j;
}

json shown_schema(const json& schema) {
  return mask_schema(schema, false);
}

std::string shown_line(const event& e) {
  return sanitize_text(to_line(e));
}

} // namespace troupe
