// Durations as people write them: "500ms", "60s", "10m", "1h30m".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace troupe {

inline constexpr std::chrono::milliseconds max_duration = std::chrono::hours{24 * 365};

// Whole numbers with the units ms, s, m, h or d, the larger first; "0" needs no unit. Fails with bad_config;
// the message says what would be right.
[[nodiscard]] result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The shortest form that parse_duration reads back: "1m30s".
[[nodiscard]] std::string duration_text(std::chrono::milliseconds duration);

} // namespace troupe
