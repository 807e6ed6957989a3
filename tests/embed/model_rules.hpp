// What function models of tests look at in a request.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/model_provider.hpp>

#include <cstddef>
#include <string>
#include <variant>

namespace troupe::test {

inline std::size_t tool_turns(const model_request& request) {
  std::size_t turns = 0;
  for (std::size_t i = 0; i < request.contents.size(); ++i)
    turns += request.contents[i]->role == role::tool ? 1 : 0;
  return turns;
}

// The last message, or the last tool result.
inline std::string last_text(const model_request& request) {
  const auto& c = *request.contents.back();
  const auto* r = std::get_if<tool_result_part>(&c.parts.back().value);
  return r ? r->text : c.text();
}

} // namespace troupe::test
