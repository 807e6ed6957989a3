// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/utf8.hpp>

namespace troupe::net {

std::size_t utf8_length(std::string_view text, std::size_t at) noexcept {
  auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  auto first = byte(0);
  if (first < 0x80)
    return at < text.size() ? 1 : 0;
  if (first >= 0xC2 && first <= 0xDF)
    return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    bool overlong = first == 0xE0 && byte(1) < 0xA0;
    bool surrogate = first == 0xED && byte(1) >= 0xA0;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    bool overlong = first == 0xF0 && byte(1) < 0x90;
    bool beyond = first == 0xF4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& out, std::uint32_t code) {
  auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  auto follow = [&](unsigned shift) { put(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6U));
    follow(0);
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12U));
    follow(6);
    follow(0);
  } else {
    put(0xF0U | (code >> 18U));
    follow(12);
    follow(6);
    follow(0);
  }
}

void append_replacement(std::string& out) {
  out.append("\xEF\xBF\xBD");
}

} // namespace troupe::net
