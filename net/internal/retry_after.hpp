// How long a service asks to be left alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace troupe::net {

// The value of a Retry-After header (RFC 9110, 10.2.3): seconds, or a date in any of the three forms
// of 5.6.7. Fractions of a second, which some services send, are understood. Nothing when it is neither; zero
// when the date has passed.
[[nodiscard]] std::optional<std::chrono::milliseconds>
parse_retry_after(std::string_view value, std::chrono::system_clock::time_point now);

} // namespace troupe::net
