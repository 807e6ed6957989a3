// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/content.hpp>
#include <troupe/messages/internal/json_fields.hpp>

#include <nlohmann/json.hpp>

#include <utility>

namespace troupe {
namespace {

template <class T>
std::string field(const nlohmann::json& j, const char* key) {
  return j.at(key).get<T>();
}

part parse_part(const nlohmann::json& j) {
  part p;
  p.blob = j.value("blob", std::string{});
  const auto& type = j.at("type").get_ref<const std::string&>();
  if (type == "text") {
    p.value = text_part{field<std::string>(j, "text")};
  } else if (type == "thought") {
    p.value = thought_part{field<std::string>(j, "text")};
  } else if (type == "tool_call") {
    p.value = tool_call_part{call_id{field<std::string>(j, "call_id")}, field<std::string>(j, "name"),
                             field<std::string>(j, "arguments")};
  } else if (type == "tool_result") {
    p.value = tool_result_part{call_id{field<std::string>(j, "call_id")}, field<std::string>(j, "name"),
                               field<std::string>(j, "text"), j.value("is_error", false)};
  } else {
    p.value = data_part{j.value("mime_type", std::string{}), j.value("data", std::string{}),
                        j.value("uri", std::string{})};
  }
  return p;
}

} // namespace

std::string content::text() const {
  std::string joined;
  for (const auto& p : parts)
    if (const auto* t = std::get_if<text_part>(&p.value))
      joined += t->text;
  return joined;
}

content make_text(role who, std::string text) {
  content c;
  c.role = who;
  c.parts.push_back({text_part{std::move(text)}, {}});
  return c;
}

std::string_view to_string(role r) noexcept {
  switch (r) {
  case role::model:
    return "model";
  case role::tool:
    return "tool";
  case role::user:
    break;
  }
  return "user";
}

void to_json(nlohmann::json& j, const part& p) {
  internal::write_tree(j, p);
}

void from_json(const nlohmann::json& j, part& p) {
  p = parse_part(j);
}

void to_json(nlohmann::json& j, const content& c) {
  internal::write_tree(j, c);
}

void from_json(const nlohmann::json& j, content& c) {
  const auto& who = j.at("role").get_ref<const std::string&>();
  c.role = who == "model" ? role::model : who == "tool" ? role::tool : role::user;
  c.parts = j.at("parts").get<std::vector<part>>();
}

} // namespace troupe
