// What a character of UTF-8 is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe {

// What stands in the place of bytes that are not UTF-8: U+FFFD.
inline constexpr std::string_view utf8_replacement = "\xEF\xBF\xBD";

// The length of the character at the front of `text` (which is not empty), or 0 when it is malformed; `bad` is then the
// number of bytes to replace by one U+FFFD.
[[nodiscard]] constexpr std::size_t utf8_character_length(std::string_view text, std::size_t& bad) noexcept {
  auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  auto lead = byte(0);
  bad = 1;
  if (lead < 0x80)
    return 1;
  std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4)
    return 0;
  for (std::size_t i = 1; i < length; ++i) {
    std::uint8_t low = 0x80, high = 0xBF;
    if (i == 1) {
      low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : low;
      high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : high;
    }
    if (i >= text.size() || byte(i) < low || byte(i) > high) {
      bad = i;
      return 0;
    }
  }
  return length;
}

} // namespace troupe
