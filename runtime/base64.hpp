// Base64 (RFC 4648, section 4), for bytes that are wanted as text.
//
// Bytes as text, for data in messages, headers and recordings (RFC 4648, with padding).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe {

[[nodiscard]] std::string encode_base64(std::string_view bytes);

// The bytes; absent when `text` is not base64. Padding may be missing.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

} // namespace troupe
