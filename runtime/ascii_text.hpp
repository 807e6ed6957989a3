// Small things about words of protocols: names of hosts and schemes, parts of URLs. ASCII only. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace troupe {

// `text` with A to Z in lower case; other bytes stay, whatever the locale.
[[nodiscard]] std::string ascii_lower(std::string_view text);

// `text` with all but letters, digits, "-._~" (RFC 3986, unreserved) and `kept` as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text, std::string_view kept = {});

template <std::size_t N>
[[nodiscard]] constexpr bool is_one_of(const std::array<std::string_view, N>& words,
                                       std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace troupe
