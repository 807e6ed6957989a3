// YAML as a plain tree that knows its lines.
//
// Built from the parser's events, so that depth, size and the copies that aliases make are bounded while
// reading.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::internal {

struct yaml_limits {
  std::size_t max_bytes = std::size_t{1} << 20;
  std::size_t max_depth = 32;
  std::size_t max_nodes = 100'000;
};

enum class yaml_kind : std::uint8_t { null, scalar, sequence, map };

struct yaml_key_text {
  std::string text;
  std::size_t line = 0;
};

struct yaml_node {
  yaml_kind kind = yaml_kind::null;
  bool quoted = false;             // a scalar in quotes or a block: always text
  std::size_t line = 0;            // from 1
  std::string text;                // of a scalar
  std::vector<yaml_node> items;    // of a sequence, or the values of a map
  std::vector<yaml_key_text> keys; // of a map, one for each item

  [[nodiscard]] bool is_map() const noexcept { return kind == yaml_kind::map; }
  [[nodiscard]] bool is_sequence() const noexcept { return kind == yaml_kind::sequence; }
  [[nodiscard]] bool is_scalar() const noexcept { return kind == yaml_kind::scalar; }
  [[nodiscard]] bool is_null() const noexcept { return kind == yaml_kind::null; }
  // The value of a key, or null.
  [[nodiscard]] const yaml_node* find(std::string_view key) const noexcept;
};

// What does not parse; `line` counts within the text, from 1.
struct yaml_failure {
  std::size_t line = 0;
  std::string message;
};

// Reads one document; an empty text is a null node. Returns false and fills `failure` when there is no sound
// one.
[[nodiscard]] bool parse_yaml(std::string_view text, const yaml_limits& limits, yaml_node& out,
                              yaml_failure& failure);

// By the rules of YAML 1.2's core schema: null, true, false, numbers, else text.
[[nodiscard]] nlohmann::json to_json(const yaml_node& node);

} // namespace troupe::internal
