// The scopes of state keys, told by the key's prefix.
//
//   plain    of the agent, in its log
//   temp:    of this run; never stored
//   user:    of the session's user, over all their sessions; kept by the store
//   app:     of the session's application, likewise
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>

#include <string_view>

namespace troupe {

[[nodiscard]] inline bool is_temporary(std::string_view key) noexcept {
  return key.starts_with("temp:");
}

[[nodiscard]] inline bool is_shared(std::string_view key) noexcept {
  return key.starts_with("user:") || key.starts_with("app:");
}

// An event that the agent applies and nobody else sees.
[[nodiscard]] inline bool is_temporary(const event_body& body) noexcept {
  const auto* state = std::get_if<state_body>(&body);
  return state != nullptr && is_temporary(std::string_view{state->key});
}

} // namespace troupe
