// The one vocabulary of errors.
//
// Every error that a user, a model or another program can see has one of these codes. The numbers are stable:
// they are stored in logs. Mappings to exit codes, HTTP status and the like are one table each, beside the
// surface that uses it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

enum class errc : std::uint8_t {
  internal = 1,
  bad_config = 10,
  bad_definition = 11,
  bad_arguments = 12,
  bad_json = 13,
  bad_schema = 14,
  bad_encoding = 15,
  too_large = 16,
  unknown_tool = 20,
  unknown_agent = 21,
  unknown_model = 22,
  unknown_skill = 23,
  not_allowed = 24,
  name_clash = 25,
  not_found = 26,
  denied = 30,
  needs_input = 31,
  max_turns = 40,
  timeout = 41,
  budget = 42,
  protocol = 43,
  crashed = 44,
  max_children = 45,
  interrupted = 46,
  lost = 47,
  busy = 50,
  shutting_down = 51,
  cancelled = 52,
  stuck = 53,
  model_auth = 60,
  model_not_found = 61,
  model_rate_limited = 62,
  model_unavailable = 63,
  model_bad_request = 64,
  model_bad_response = 65,
  model_empty = 66,
  model_refused = 67,
  connection_failed = 70,
  connection_lost = 71,
  stalled = 72,
  tls = 73,
  tool_failed = 80,
  file_changed = 81,
  outside_workspace = 82,
  hook_failed = 83,
  store_failed = 90,
  store_corrupt = 91,
  fenced = 92,
};

// The stable name, as it stands in JSON and in what the model reads: "max_turns".
[[nodiscard]] std::string_view to_string(errc code) noexcept;

// One sentence for people: "The agent used all the turns that it is allowed."
[[nodiscard]] std::string_view describe(errc code) noexcept;

// The code with this name, or nothing.
[[nodiscard]] std::optional<errc> errc_from_string(std::string_view name) noexcept;

// What went wrong: a code and a sentence that says what, where, and what would be right.
struct error {
  errc code = errc::internal;
  std::string message;

  friend bool operator==(const error&, const error&) = default;
};

// "max_turns: The root used 30 of 30 turns."
[[nodiscard]] std::string to_string(const error& e);

} // namespace troupe
