// JSON of the plain kind that models write as arguments, read without the detours of a general parser.
//
// It gives what nlohmann::json gives for the same text, or nothing: for what is not JSON, and for numbers with a fraction
// or of more than 18 digits, \u escapes, and nesting beyond `max_depth`. Those are left to the general parser.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace troupe::internal {

[[nodiscard]] std::optional<nlohmann::json> read_plain_json(std::string_view text, std::size_t max_depth);

// Whether it would give something.
[[nodiscard]] bool is_plain_json(std::string_view text, std::size_t max_depth);

} // namespace troupe::internal
