// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/duration_text.hpp>
#include <troupe/runtime/internal/yaml_reader.hpp>
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool_names.hpp>

namespace troupe::internal {

namespace {

std::string described(const yaml_node& node) {
  switch (node.kind) {
  case yaml_kind::null:
    return "nothing";
  case yaml_kind::sequence:
    return "a list";
  case yaml_kind::map:
    return "a map";
  case yaml_kind::scalar:
    break;
  }
  return "\"" + cut_text(node.text, 60) + "\"";
}

} // namespace

bool yaml_reader::parse(std::string_view text, const yaml_limits& limits, yaml_node& out) {
  yaml_failure failure;
  if (parse_yaml(text, limits, out, failure))
    return true;
  note(true, failure.line, {}, std::move(failure.message));
  return false;
}

void yaml_reader::note(bool is_error, std::size_t line, const std::string& key, std::string message) {
  errors_ += is_error ? 1 : 0;
  issues_.push_back({is_error, file_, line == 0 ? 0 : line + lines_before_, key, std::move(message)});
}

void yaml_reader::wrong_type(const yaml_value& at, const std::string& expected) {
  error(at, "expected " + expected + ", found " + described(at.node) + ".");
}

void yaml_reader::unknown_key(const yaml_value& at, std::span<const std::string> known) {
  auto dot = at.key.rfind('.');
  auto name = dot == std::string::npos ? at.key : at.key.substr(dot + 1);
  auto nearest = did_you_mean(name, known);
  doubt(at, "unknown key." + (nearest.empty() ? " Known: " + list_names(known, 40) + "." : nearest));
}

bool yaml_reader::read(const yaml_value& in, std::string& out) {
  if (!in.node.is_scalar()) {
    wrong_type(in, "text");
    return false;
  }
  out = in.node.text;
  return true;
}

bool yaml_reader::read(const yaml_value& in, bool& out) {
  auto value = to_json(in.node);
  if (!value.is_boolean()) {
    wrong_type(in, "true or false");
    return false;
  }
  out = value.get<bool>();
  return true;
}

bool yaml_reader::read(const yaml_value& in, double& out, double least, double most) {
  auto value = to_json(in.node);
  if (!value.is_number() || value.get<double>() < least || value.get<double>() > most) {
    wrong_type(in, "a number from " + dump_json(least) + " to " + dump_json(most));
    return false;
  }
  out = value.get<double>();
  return true;
}

bool yaml_reader::read(const yaml_value& in, std::uint64_t& out, std::uint64_t least, std::uint64_t most) {
  auto value = to_json(in.node);
  bool fits = value.is_number_integer() && (value.is_number_unsigned() || value.get<std::int64_t>() >= 0);
  if (!fits || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most) {
    wrong_type(in, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return false;
  }
  out = value.get<std::uint64_t>();
  return true;
}

bool yaml_reader::read(const yaml_value& in, std::uint32_t& out, std::uint32_t least, std::uint32_t most) {
  std::uint64_t wide = 0;
  if (!read(in, wide, std::uint64_t{least}, std::uint64_t{most}))
    return false;
  out = static_cast<std::uint32_t>(wide);
  return true;
}

bool yaml_reader::read(const yaml_value& in, std::chrono::milliseconds& out,
                       std::chrono::milliseconds least) {
  if (!in.node.is_scalar()) {
    wrong_type(in, "a duration such as 60s or 10m");
    return false;
  }
  auto value = parse_duration(in.node.text);
  if (!value) {
    error(in, value.failure().message);
    return false;
  }
  if (*value < least) {
    error(in, "expected a duration of at least " + duration_text(least) + ", found " + in.node.text + ".");
    return false;
  }
  out = *value;
  return true;
}

bool yaml_reader::read(const yaml_value& in, std::vector<std::string>& out) {
  auto before = errors_;
  std::vector<std::string> items;
  read_list(*this, in, "a list of texts", [&](const yaml_value& item) { read(item, items.emplace_back()); });
  if (errors_ != before)
    return false;
  out = std::move(items);
  return true;
}

bool yaml_reader::read(const yaml_value& in, std::vector<tool_ref>& out) {
  auto before = errors_;
  std::vector<tool_ref> tools;
  read_list(*this, in, "a list of tool names", [&](const yaml_value& item) {
    std::string name;
    if (!read(item, name))
      return;
    if (!is_valid_tool_entry(name))
      error(item, "\"" + cut_text(name, 60) +
                      "\" is no tool name; write a name, \"*\", \"mcp_*\" or \"mcp_<server>_*\".");
    tools.emplace_back(std::move(name));
  });
  if (errors_ != before)
    return false;
  out = std::move(tools);
  return true;
}

bool yaml_reader::read_schema(const yaml_value& in, nlohmann::json& out) {
  if (!in.node.is_map()) {
    wrong_type(in, "a JSON Schema (a map)");
    return false;
  }
  auto schema = to_json(in.node);
  if (auto compiled = json_schema::compile(schema); !compiled) {
    error(in, compiled.failure().message);
    return false;
  }
  out = std::move(schema);
  return true;
}

void yaml_reader::read_texts(const yaml_value& in, std::map<std::string, std::string>& out,
                             const char* expected) {
  if (!in.node.is_map())
    return wrong_type(in, expected);
  for (std::size_t i = 0; i < in.node.items.size(); ++i) {
    const auto& name = in.node.keys[i];
    read({in.node.items[i], in.key + "." + name.text, name.line}, out[name.text]);
  }
}

} // namespace troupe::internal
