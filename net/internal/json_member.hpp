// Members of JSON that others wrote, whatever its shape. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace troupe::net {

// The member of an object; null where there is none, or `object` is none.
[[nodiscard]] const nlohmann::json& member_of(const nlohmann::json& object, std::string_view key) noexcept;
// Empty where it is no text.
[[nodiscard]] std::string text_of(const nlohmann::json& object, std::string_view key);
[[nodiscard]] bool flag_of(const nlohmann::json& object, std::string_view key,
                           bool otherwise = false) noexcept;

} // namespace troupe::net
