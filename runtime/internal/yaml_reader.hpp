// Reads maps of YAML into structs by a table of keys, and notes what is wrong with file, line and key.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/internal/yaml_tree.hpp>
#include <troupe/runtime/load_issue.hpp>
#include <troupe/runtime/tool.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::internal {

// A value and the way to it, "limits.timeout".
struct yaml_value {
  const yaml_node& node;
  std::string key;
  std::size_t line; // of the key
};

class yaml_reader {
 public:
  // `lines_before` is added to each line; `strict` makes errors of unknown keys.
  yaml_reader(std::string file, std::size_t lines_before, bool strict)
      : file_(std::move(file)), lines_before_(lines_before), strict_(strict) {}

  // Parses one document; false (and an issue) when there is no sound one.
  [[nodiscard]] bool parse(std::string_view text, const yaml_limits& limits, yaml_node& out);

  void error(const yaml_value& at, std::string message) { note(true, at.line, at.key, std::move(message)); }
  void error(std::size_t line, const std::string& key, std::string message) {
    note(true, line, key, std::move(message));
  }
  void warn(const yaml_value& at, std::string message) { note(false, at.line, at.key, std::move(message)); }
  // An error in strict mode, else a warning.
  void doubt(const yaml_value& at, std::string message) {
    note(strict_, at.line, at.key, std::move(message));
  }
  // "expected <expected>, found <what is there>"
  void wrong_type(const yaml_value& at, const std::string& expected);
  void unknown_key(const yaml_value& at, std::span<const std::string> known);

  // Each reads the value, or notes an error and leaves `out` alone.
  bool read(const yaml_value& in, std::string& out); // any scalar
  bool read(const yaml_value& in, bool& out);
  bool read(const yaml_value& in, double& out, double least, double most);
  bool read(const yaml_value& in, std::uint64_t& out, std::uint64_t least, std::uint64_t most);
  bool read(const yaml_value& in, std::uint32_t& out, std::uint32_t least, std::uint32_t most);
  bool read(const yaml_value& in, std::chrono::milliseconds& out, std::chrono::milliseconds least);
  bool read(const yaml_value& in, std::vector<std::string>& out); // a list of texts
  bool read(const yaml_value& in, std::vector<tool_ref>& out); // names and wildcards, checked for their form
  bool read_schema(const yaml_value& in, nlohmann::json& out); // a map that compiles as JSON Schema
  // A map from names to texts; `expected` is for the message. Values that are no texts are noted one by one.
  void read_texts(const yaml_value& in, std::map<std::string, std::string>& out, const char* expected);
  // One of the words, by `from_text`; `words` is for the message.
  template <class Enum, class FromText>
  bool read_word(const yaml_value& in, Enum& out, FromText from_text, const char* words) {
    auto found = in.node.is_scalar() ? from_text(in.node.text) : std::nullopt;
    if (!found) {
      wrong_type(in, words);
      return false;
    }
    out = *found;
    return true;
  }

  [[nodiscard]] std::size_t error_count() const noexcept { return errors_; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] std::vector<load_issue> take_issues() { return std::move(issues_); }

 private:
  void note(bool is_error, std::size_t line, const std::string& key, std::string message);

  std::string file_;
  std::size_t lines_before_;
  bool strict_;
  std::size_t errors_ = 0;
  std::vector<load_issue> issues_;
};

// One key of a map that becomes a T. The texts make the reference.
template <class T>
struct yaml_key {
  const char* name;
  const char* type;
  const char* fallback; // what holds without the key
  const char* help;
  void (*read)(yaml_reader& reader, const yaml_value& in, T& out);
};

// Reads each known key of the map `in`; unknown keys are doubts, and a value that is no map is an error.
template <class T>
void read_map(yaml_reader& reader, const yaml_value& in, std::span<const yaml_key<T>> table, T& out) {
  if (!in.node.is_map())
    return reader.wrong_type(in, "a map of keys and values");
  for (std::size_t i = 0; i < in.node.items.size(); ++i) {
    const auto& name = in.node.keys[i].text;
    yaml_value value{in.node.items[i], in.key.empty() ? name : in.key + "." + name, in.node.keys[i].line};
    const yaml_key<T>* known = nullptr;
    for (const auto& key : table)
      if (name == key.name)
        known = &key;
    if (known) {
      known->read(reader, value, out);
      continue;
    }
    std::vector<std::string> names;
    for (const auto& key : table)
      names.emplace_back(key.name);
    reader.unknown_key(value, names);
  }
}

// Calls `each` with every item of a list; an error when `in` is no list.
template <class Each>
void read_list(yaml_reader& reader, const yaml_value& in, const char* expected, Each&& each) {
  if (!in.node.is_sequence())
    return reader.wrong_type(in, expected);
  for (std::size_t i = 0; i < in.node.items.size(); ++i)
    each(yaml_value{in.node.items[i], in.key + "[" + std::to_string(i) + "]", in.node.items[i].line});
}

} // namespace troupe::internal
