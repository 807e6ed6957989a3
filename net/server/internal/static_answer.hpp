// The answer for a file of the page: compressed or not, or "not modified".
//
// Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/web_message.hpp>

#include <string_view>

namespace troupe::net {

// True when the client takes gzip (RFC 9110, 12.5.3).
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding) noexcept;

// True when one of the tags is `etag` (RFC 9110, 13.1.2: weak comparison).
[[nodiscard]] bool etag_matches(std::string_view if_none_match, std::string_view etag) noexcept;

[[nodiscard]] web_answer static_answer(const static_file& file, const web_head& head);

} // namespace troupe::net
