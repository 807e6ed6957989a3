// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/json_object.hpp>
#include <troupe/messages/utf8.hpp>

#include <cstdint>
#include <cstring>

namespace troupe {
namespace {

constexpr std::uint64_t all(std::uint8_t byte) noexcept {
  return 0x0101010101010101U * byte;
}

// True when none of eight bytes is a control character, a quote, a backslash or beyond ASCII.
bool plain(std::uint64_t word) noexcept {
  auto zero = [](std::uint64_t w) { return (w - all(1)) & ~w; };
  const auto special = word | ((word - all(0x20)) & ~word) | zero(word ^ all('"')) | zero(word ^ all('\\'));
  return (special & all(0x80)) == 0;
}

std::size_t plain_prefix(std::string_view text) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    if (!plain(word))
      break;
  }
  for (; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\')
      break;
  }
  return i;
}

void append_escape(std::string& out, std::uint8_t byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::string_view letters = "btn?fr"; // of 8 to 13
  out += '\\';
  if (byte == '"' || byte == '\\') {
    out += static_cast<char>(byte);
  } else if (byte >= 8 && byte <= 13 && byte != 11) {
    out += letters[byte - 8U];
  } else {
    out += "u00";
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
}

} // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (;;) {
    const auto run = plain_prefix(text);
    out += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty())
      break;
    const auto byte = static_cast<std::uint8_t>(text.front());
    std::size_t bad = 0;
    std::size_t length = 1;
    if (byte < 0x80) {
      append_escape(out, byte);
    } else if (length = utf8_character_length(text, bad); length == 0) {
      out += utf8_replacement;
      length = bad;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void append_json_value(std::string& out, const nlohmann::json& value) {
  out += value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace troupe
