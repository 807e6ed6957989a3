// Bytes that stand for themselves in a JSON string, found eight at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace troupe::net {

// The number of bytes from `at` on that are ASCII and neither control characters (DEL included), quotes nor backslashes.
[[nodiscard]] inline std::size_t plain_bytes(std::string_view text, std::size_t at) noexcept {
  constexpr std::uint64_t ones = 0x0101010101010101U;
  constexpr std::uint64_t highs = 0x8080808080808080U;
  // Marks the bytes that are below `least`. A borrow marks some after the first such one, and none before it.
  const auto below = [](std::uint64_t word, std::uint64_t least) {
    return (word - ones * least) & ~word & highs;
  };
  const auto begin = at;
  if constexpr (std::endian::native == std::endian::little)
    for (; at + 8 <= text.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, 8);
      const auto marks = (word & highs) | below(word, 0x20) | below(word ^ (ones * '"'), 1) |
                         below(word ^ (ones * '\\'), 1) | below(word ^ (ones * 0x7F), 1);
      if (marks != 0)
        return at - begin + static_cast<std::size_t>(std::countr_zero(marks)) / 8;
    }
  for (; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\')
      break;
  }
  return at - begin;
}

} // namespace troupe::net
