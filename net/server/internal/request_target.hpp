// The target of a request (RFC 9112, 3.2.1): its path in decoded segments, and its query.
//
// What could mean two things to two readers is refused rather than mended: dots as segments, control characters, NUL,
// backslashes, percent signs that are left after decoding once, bytes that are not UTF-8, a query parameter that comes
// twice. A slash within a segment (%2F) stays in its segment.
//
// Pure; linear time. Bounds: max_target bytes, max_segments, max_parameters.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

struct request_target {
  static constexpr std::size_t max_target = 8192;
  static constexpr std::size_t max_segments = 32;
  static constexpr std::size_t max_parameters = 32;

  std::vector<std::string> segments; // "/" has none; "/a/" has "a" and ""
  std::vector<std::pair<std::string, std::string>> query;

  // Null when the query has no such parameter.
  [[nodiscard]] const std::string* parameter(std::string_view name) const noexcept;
  // "/a/b". Empty when a segment holds a slash: no file has such a name.
  [[nodiscard]] std::string file_path() const;
};

// Fails with bad_arguments.
[[nodiscard]] result<request_target> parse_request_target(std::string_view text);

} // namespace troupe::net
