// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::string_view safe_keys[] = {"call_id", "question_id", "task_id", "name",
                                          "kind",    "model",       "status",  "code"};

// Texts within a body; keys that hold our own ids and words stay.
json mask_texts(const json& value) {
  if (value.is_string())
    return sanitize_text(value.get_ref<const std::string&>());
  if (!value.is_structured())
    return value;
  json masked = value;
  for (auto item = masked.begin(); item != masked.end(); ++item) {
    const bool safe = value.is_object() && std::find(std::begin(safe_keys), std::end(safe_keys),
                                                     item.key()) != std::end(safe_keys);
    if (!safe)
      *item = mask_texts(*item);
  }
  return masked;
}

} // namespace

std::string shown(std::string_view text) {
  return escape_controls(sanitize_text(text));
}

json shown_json(const event& e) {
  json j = e;
  j["body"] = e.kind() == event_kind::state ? sanitize_json(j["body"]) : mask_texts(j["body"]);
  return j;
}

std::string shown_line(const event& e) {
  return sanitize_text(to_line(e));
}

} // namespace troupe
