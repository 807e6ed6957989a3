// What the functions of scenario templates do with values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe::internal {

// Calls count, sum, max_by, sort_by or format, whose number of arguments has been checked.
[[nodiscard]] result<nlohmann::json> call_function(const std::string& name,
                                                   const std::vector<nlohmann::json>& arguments);

[[nodiscard]] error bad_value(std::string text);

// Text that is a JSON object or list, opened; everything else as it is.
[[nodiscard]] nlohmann::json opened_json(const nlohmann::json& value);

// The member of an object, also of one that stands in a text; null when there is none.
[[nodiscard]] nlohmann::json member_or_null(const nlohmann::json& value, const std::string& key);

// Text as it is, null as nothing, everything else as JSON.
[[nodiscard]] std::string plain_text(const nlohmann::json& value);

// The member at a dotted path, opening text that is JSON; null when there is none.
[[nodiscard]] nlohmann::json member_of(const nlohmann::json& value, std::string_view path);

} // namespace troupe::internal
