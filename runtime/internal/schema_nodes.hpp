// A compiled JSON Schema: subschemas as nodes that name each other by index.
//
// The rules for one type of value stand in a block of their own, so that a check of a small schema touches
// little.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/json_schema.hpp>

#include <re2/re2.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::internal {

using node_index = std::uint32_t;
inline constexpr node_index no_node = std::numeric_limits<node_index>::max();

// Bits of schema_node::types.
enum type_bit : std::uint8_t {
  null_bit = 1,
  boolean_bit = 2,
  integer_bit = 4,
  number_bit = 8, // any number
  string_bit = 16,
  array_bit = 32,
  object_bit = 64,
  all_types = 127,
};

struct schema_pattern {
  std::string text;
  std::unique_ptr<const RE2> expression;
};

struct number_rules {
  std::optional<nlohmann::json> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;
};

struct string_rules {
  std::optional<std::uint64_t> min_length, max_length;
  std::optional<schema_pattern> pattern;
};

struct schema_property {
  std::string name;
  node_index node = no_node; // no_node: nothing but required
  bool required = false;
};

struct object_rules {
  std::vector<schema_property> properties; // sorted by name, as the members of a value are
  std::vector<std::pair<schema_pattern, node_index>> patterns;
  std::optional<std::uint64_t> min_properties, max_properties;
  node_index additional = no_node;
  node_index names = no_node;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  std::vector<std::pair<std::string, node_index>> dependent_schemas;
};

struct array_rules {
  std::vector<node_index> prefix;
  node_index items = no_node; // of what follows the prefix
  node_index contains = no_node;
  std::optional<std::uint64_t> min_items, max_items, max_contains;
  std::uint64_t min_contains = 1;
  bool unique = false;
};

// What applies to a value of any type.
struct combined_rules {
  std::optional<nlohmann::json> constant;
  std::optional<std::vector<nlohmann::json>> choices;
  node_index ref = no_node;
  node_index dynamic_ref = no_node; // where the reference leads when no outer schema overrides it
  std::string dynamic_anchor;       // set when an outer schema may override it
  std::vector<node_index> all_of, any_of, one_of;
  node_index negated = no_node;
  node_index condition = no_node, consequence = no_node, alternative = no_node;
  node_index unevaluated_properties = no_node, unevaluated_items = no_node;
};

struct schema_node {
  std::uint8_t types = all_types;
  bool never = false; // the schema `false`
  std::uint32_t resource = 0;
  std::unique_ptr<number_rules> numbers;
  std::unique_ptr<string_rules> strings;
  std::unique_ptr<object_rules> objects;
  std::unique_ptr<array_rules> arrays;
  std::unique_ptr<combined_rules> combined;
};

// A part of the document with an identifier of its own.
struct schema_resource {
  std::map<std::string, node_index> dynamic_anchors;
};

struct compiled_schema {
  nlohmann::json document;
  schema_options options;
  std::vector<schema_node> nodes; // the first is the document
  std::vector<schema_resource> resources;
  bool dynamic = false; // some $dynamicRef can be overridden
};

[[nodiscard]] result<std::shared_ptr<const compiled_schema>> compile_schema(const nlohmann::json& schema,
                                                                            const schema_options& options);

// Issues are collected only where `issues` is not null.
[[nodiscard]] bool run_schema(const compiled_schema& schema, const nlohmann::json& value,
                              std::vector<schema_issue>* issues);

} // namespace troupe::internal
