// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_member.hpp>

namespace troupe::net {

using nlohmann::json;

const json& member_of(const json& object, std::string_view key) noexcept {
  static const json none;
  if (!object.is_object())
    return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string text_of(const json& object, std::string_view key) {
  const auto& value = member_of(object, key);
  return value.is_string() ? value.get<std::string>() : std::string{};
}

bool flag_of(const json& object, std::string_view key, bool otherwise) noexcept {
  const auto& value = member_of(object, key);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

} // namespace troupe::net
