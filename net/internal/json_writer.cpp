// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/plain_bytes.hpp>
#include <troupe/net/internal/utf8.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace troupe::net {

namespace {

void append_escape(std::string& out, unsigned char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (c) {
  case '"':
    out.append("\\\"");
    return;
  case '\\':
    out.append("\\\\");
    return;
  case '\n':
    out.append("\\n");
    return;
  case '\r':
    out.append("\\r");
    return;
  case '\t':
    out.append("\\t");
    return;
  default:
    out.append({'\\', 'u', '0', '0', digits[c >> 4U], digits[c & 15U]});
  }
}

} // namespace

void append_json_text(std::string& out, std::string_view text) {
  std::size_t begin = 0;
  std::size_t i = 0;
  for (;;) {
    i += plain_bytes(text, i);
    if (i == text.size())
      break;
    auto c = static_cast<unsigned char>(text[i]);
    auto length = c < 0x80 ? 0 : utf8_length(text, i);
    if (length > 0) {
      i += length;
      continue;
    }
    out.append(text, begin, i - begin);
    if (c < 0x80)
      append_escape(out, c);
    else
      append_replacement(out);
    begin = ++i;
  }
  out.append(text, begin, i - begin);
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  append_json_text(out, text);
  out += '"';
}

void append_json_number(std::string& out, double number) {
  if (!std::isfinite(number)) {
    out.append("null");
    return;
  }
  std::array<char, 32> digits;
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

} // namespace troupe::net
