// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/utf8.hpp>
#include <troupe/runtime/internal/plain_json.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace troupe {

namespace {

constexpr std::size_t error_text_bytes = 300;

// Agrees with the parser on every valid beginning of a text, which is all that the parser ever descends into.
bool nests_deeper(std::string_view text, std::size_t max_depth) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '"':
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\')
          ++i;
      break;
    case '[':
    case '{':
      if (++depth > max_depth)
        return true;
      break;
    case ']':
    case '}':
      depth -= depth > 0 ? 1 : 0;
      break;
    default:
      break;
    }
  }
  return false;
}

// "[json.exception.parse_error.101] parse error at line 1, …" without the part in brackets.
std::string plain_message(const nlohmann::json::exception& e) {
  std::string_view text = e.what();
  if (text.starts_with('['))
    if (auto end = text.find("] "); end != std::string_view::npos)
      text.remove_prefix(end + 2);
  return cut_text(valid_utf8(text), error_text_bytes);
}

// The number of bytes at the front that are plain ASCII, found eight at a time.
std::size_t ascii_prefix(std::string_view text) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080U) != 0)
      break;
  }
  while (i < text.size() && static_cast<std::uint8_t>(text[i]) < 0x80)
    ++i;
  return i;
}

} // namespace

result<nlohmann::json> parse_json(std::string_view text, const json_limits& limits) {
  if (text.size() > limits.max_bytes)
    return {errc::too_large, "The JSON text has " + std::to_string(text.size()) + " bytes; at most " +
                                 std::to_string(limits.max_bytes) + " are allowed."};
  if (auto plain = internal::read_plain_json(text, limits.max_depth))
    return *std::move(plain);
  if (nests_deeper(text, limits.max_depth))
    return {errc::too_large,
            "The JSON text nests deeper than " + std::to_string(limits.max_depth) + " levels."};
  // The parser takes a NUL for the end of the text.
  if (auto at = text.find('\0'); at != std::string_view::npos)
    return {errc::bad_json, "Not valid JSON: a NUL byte at " + std::to_string(at) + "."};
  try {
    return nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::exception& e) {
    return {errc::bad_json, "Not valid JSON: " + plain_message(e) + "."};
  }
}

bool is_json(std::string_view text) {
  return internal::is_plain_json(text, json_limits{}.max_depth) ||
         (text.find('\0') == std::string_view::npos && nlohmann::json::accept(text));
}

std::string dump_json(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_valid_utf8(std::string_view text) noexcept {
  for (;;) {
    text.remove_prefix(ascii_prefix(text));
    if (text.empty())
      return true;
    std::size_t bad = 0;
    auto length = utf8_character_length(text, bad);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
}

std::string valid_utf8(std::string_view text) {
  if (is_valid_utf8(text))
    return std::string{text};
  std::string out;
  out.reserve(text.size() + 16);
  while (!text.empty()) {
    std::size_t bad = 0;
    auto length = utf8_character_length(text, bad);
    if (length == 0)
      out += utf8_replacement;
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? bad : length);
  }
  return out;
}

std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept {
  if (text.size() <= max_bytes)
    return text;
  auto end = max_bytes;
  // A character has at most three continuation bytes; text that is not UTF-8 is cut anywhere.
  for (int back = 0; back < 3 && end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xC0) == 0x80; ++back)
    --end;
  if (end > 0 && (static_cast<std::uint8_t>(text[end]) & 0xC0) == 0x80)
    end = max_bytes;
  return text.substr(0, end);
}

std::string cut_text(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes)
    return std::string{text};
  auto shown = utf8_prefix(text, max_bytes);
  return std::string{shown} + "… [cut: " + std::to_string(text.size()) + " bytes, first " +
         std::to_string(shown.size()) + " shown]";
}

} // namespace troupe
