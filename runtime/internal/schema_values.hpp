// Questions about values that a JSON Schema asks, and how they are told.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace troupe::internal {

// "the string \"ten\"", "an array of 3 items": short, whatever the value.
[[nodiscard]] std::string describe_value(const nlohmann::json& value);

// "an integer or null", by the bits of type_bit.
[[nodiscard]] std::string describe_types(std::uint8_t types);

// The bits of all types that a value has; 1.0 is an integer too.
[[nodiscard]] std::uint8_t types_of(const nlohmann::json& value);

// Below, at or above 0. Exact for all integers of 64 bits.
[[nodiscard]] int compare_numbers(const nlohmann::json& a, const nlohmann::json& b);

[[nodiscard]] bool is_multiple(const nlohmann::json& value, const nlohmann::json& of);

// Of a UTF-8 text.
[[nodiscard]] std::uint64_t character_count(const std::string& text);

[[nodiscard]] bool all_unique(const nlohmann::json& array);

} // namespace troupe::internal
