// What the client of a stream wants to follow, from the query of its request or from a message.
//
// Pure. What does not fit together fails with bad_arguments (or bad_json), and the message says what would be right.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/ids.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/net/server/internal/request_target.hpp>
#include <troupe/runtime/activity.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

// In a cursor, before the count of events: "boot:rows.removals~events".
inline constexpr char events_mark = '~';

struct stream_follow {
  std::optional<session_id> session{}; // also its agents
  std::optional<agent_number> agent{}; // also its items
  bool events = false;                 // also stored events
  event_kinds kinds = event_kinds{}.set();
  bool partials = false;
  std::optional<std::uint64_t> after_seq{}; // events of the session behind this one; absent: from now on
  std::string cursor{};                     // "<boot>:<where>": goes on from there
};

[[nodiscard]] result<stream_follow> follow_of_query(const request_target& target,
                                                    std::string_view last_event_id);

// {"type": "follow", …}
[[nodiscard]] result<stream_follow> follow_of_message(std::string_view text);

// A whole number in decimal digits, and nothing else.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text) noexcept;

} // namespace troupe::net
