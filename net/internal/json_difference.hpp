// How far two JSON values are apart, for messages about what was expected.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace troupe::net {

struct json_difference {
  std::size_t count = 0; // leaves that differ or are missing, at most the limit
  std::string first{};   // "at /messages/0/content: \"a\" instead of \"b\""; empty when there is none
};

// `expected` and `given` are nested at most as deep as parse_json allows.
[[nodiscard]] json_difference compare_json(const nlohmann::json& expected, const nlohmann::json& given,
                                           std::size_t limit);

} // namespace troupe::net
