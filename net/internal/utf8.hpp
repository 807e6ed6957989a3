// UTF-8 as the standard has it (RFC 3629): no overlong forms, no surrogates, nothing beyond U+10FFFF.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::net {

// The length of the valid character at `text[at]`, or 0 when there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::size_t at) noexcept;

// Appends `code`, which is a Unicode scalar value.
void append_utf8(std::string& out, std::uint32_t code);

// Appends U+FFFD, which stands for what is not valid.
void append_replacement(std::string& out);

} // namespace troupe::net
