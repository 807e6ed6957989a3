// A short name for a content, by which a change is seen.
//
// 64 bits of FNV-1a: good against accidents, not against somebody who wants two contents to look the same.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

[[nodiscard]] std::uint64_t content_hash(std::string_view text) noexcept;

// Sixteen lower-case hexadecimal digits.
[[nodiscard]] std::string content_hash_hex(std::string_view text);

} // namespace troupe
