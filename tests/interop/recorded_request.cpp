// SPDX-License-Identifier: Apache-2.0
#include "interop/recorded_request.hpp"

namespace troupe::test {

std::string members_without(nlohmann::json object, std::initializer_list<const char*> names) {
  erase_keys(object, names);
  const auto text = object.dump();
  return text.substr(1, text.size() - 2);
}

void erase_nulls(nlohmann::json& value) {
  if (value.is_object())
    for (auto it = value.begin(); it != value.end();)
      it = it->is_null() ? value.erase(it) : std::next(it);
  if (value.is_structured())
    for (auto& inner : value)
      erase_nulls(inner);
}

} // namespace troupe::test
