// Text that comes from outside: JSON with bounds, UTF-8 that holds, and cuts at the right place.
//
// Models, tools, files and peers all write text that may be malformed or hostile. Everything here is a pure
// function and runs in linear time; recursion is bounded.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe {

// Deeply nested values overflow the stack when they are copied or destroyed, so nesting is bounded before
// parsing.
struct json_limits {
  std::size_t max_depth = 128; // arrays and objects within each other
  std::size_t max_bytes = std::size_t{16} << 20;
};

// Parses one JSON text. Fails with bad_json (the message has line and column), or too_large when a limit is
// passed.
[[nodiscard]] result<nlohmann::json> parse_json(std::string_view text, const json_limits& limits = {});

// Whether it is one JSON text, however deep and long.
[[nodiscard]] bool is_json(std::string_view text);

// One line of JSON; bytes that are not UTF-8 become U+FFFD, so that this never throws.
[[nodiscard]] std::string dump_json(const nlohmann::json& value);

[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

// `text` with U+FFFD in place of each byte sequence that is not UTF-8.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// The longest beginning of `text` that has at most `max_bytes` bytes and does not end within a character.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept;

// `text` itself when it has at most `max_bytes` bytes, else its beginning and a note such as
// "… [cut: 52428800 bytes, first 262144 shown]". The note is not counted.
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t max_bytes);

} // namespace troupe
