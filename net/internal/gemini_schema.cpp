// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/gemini_schema.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace troupe::net {

namespace {

using nlohmann::json;

constexpr int max_depth = 16;

std::string upper(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return word;
}

bool allows_null_only(const json& schema) {
  return schema.is_object() && schema.value("type", json{}) == "null";
}

class converter {
 public:
  explicit converter(const json& root) : root_(root) {}

  json convert(const json& schema, int depth) const {
    if (!schema.is_object() || depth > max_depth)
      return json{{"type", "OBJECT"}};
    if (const auto* target = find(schema))
      return convert(*target, depth + 1);
    json out = json::object();
    copy_plain(schema, out);
    copy_type(schema, out);
    copy_values(schema, out);
    copy_inner(schema, out, depth);
    return out;
  }

 private:
  // What a reference into the schema itself points to.
  const json* find(const json& schema) const {
    auto ref = schema.find("$ref");
    if (ref == schema.end() || !ref->is_string())
      return nullptr;
    std::string_view path = ref->get_ref<const std::string&>();
    if (!path.starts_with('#'))
      return nullptr;
    path.remove_prefix(1);
    try {
      json::json_pointer pointer{std::string(path)};
      return root_.contains(pointer) ? &root_.at(pointer) : nullptr;
    } catch (const json::exception&) {
      return nullptr;
    }
  }

  static void copy_plain(const json& schema, json& out) {
    for (const char* key : {"title", "description", "minItems", "maxItems", "minimum", "maximum", "minLength",
                            "maxLength", "pattern", "minProperties", "maxProperties", "required", "default"})
      if (auto found = schema.find(key); found != schema.end())
        out[key] = *found;
    auto format = schema.find("format");
    if (format == schema.end() || !format->is_string())
      return;
    for (std::string_view known : {"date-time", "float", "double", "int32", "int64"})
      if (format->get_ref<const std::string&>() == known)
        out["format"] = *format;
  }

  static void copy_type(const json& schema, json& out) {
    auto type = schema.find("type");
    if (type == schema.end())
      return;
    if (type->is_string()) {
      out["type"] = upper(*type);
      return;
    }
    if (!type->is_array())
      return;
    json branches = json::array();
    for (const auto& one : *type) {
      if (one == "null")
        out["nullable"] = true;
      else if (one.is_string())
        branches.push_back(json{{"type", upper(one)}});
    }
    if (branches.size() == 1)
      out["type"] = branches[0]["type"];
    else if (!branches.empty())
      out["anyOf"] = std::move(branches);
  }

  // The subset has enumerations of strings only.
  static void copy_values(const json& schema, json& out) {
    json values = schema.value("enum", json::array());
    if (auto only = schema.find("const"); only != schema.end())
      values = json::array({*only});
    if (!values.is_array() || values.empty() ||
        !std::all_of(values.begin(), values.end(), [](const json& v) { return v.is_string(); }))
      return;
    out["enum"] = std::move(values);
    out["type"] = "STRING";
  }

  void copy_inner(const json& schema, json& out, int depth) const {
    if (auto found = schema.find("properties"); found != schema.end() && found->is_object()) {
      out["properties"] = json::object();
      for (const auto& [name, inner] : found->items())
        out["properties"][name] = convert(inner, depth + 1);
    }
    if (auto found = schema.find("items"); found != schema.end() && found->is_object())
      out["items"] = convert(*found, depth + 1);
    for (const char* key : {"anyOf", "oneOf"})
      if (auto found = schema.find(key); found != schema.end() && found->is_array())
        copy_branches(*found, out, depth);
    if (auto found = schema.find("allOf"); found != schema.end() && found->is_array())
      for (const auto& inner : *found)
        out.update(convert(inner, depth + 1), true);
  }

  void copy_branches(const json& branches, json& out, int depth) const {
    json kept = json::array();
    for (const auto& branch : branches) {
      if (allows_null_only(branch))
        out["nullable"] = true;
      else
        kept.push_back(convert(branch, depth + 1));
    }
    if (kept.size() == 1)
      out.update(kept[0]);
    else if (!kept.empty())
      out["anyOf"] = std::move(kept);
  }

  const json& root_;
};

} // namespace

json to_gemini_schema(const json& schema) {
  return converter(schema).convert(schema, 0);
}

} // namespace troupe::net
