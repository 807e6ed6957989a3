// HTML as a person would read it: headings, paragraphs, lists, links with their addresses; no scripts, no styles. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::net {

// `charset` is what the server said; empty: what the page says. At most about `max_bytes` of text are made.
[[nodiscard]] std::string html_to_text(std::string_view html, const std::string& charset,
                                       std::size_t max_bytes);

} // namespace troupe::net
