// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/base64.hpp>

#include <cstdint>

namespace troupe {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : digits[group >> (18U - 6U * k) & 0x3FU];
  }
  return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=')
    text.remove_suffix(1);
  if (text.size() % 4 == 1)
    return std::nullopt;
  std::string out;
  out.reserve(text.size() * 3 / 4);
  std::uint32_t gathered = 0;
  int bits = 0;
  for (char c : text) {
    auto value = digits.find(c);
    if (value == std::string_view::npos)
      return std::nullopt;
    gathered = (gathered << 6U | static_cast<std::uint32_t>(value)) & 0xFFFFU;
    bits += 6;
    if (bits < 8)
      continue;
    bits -= 8;
    out += static_cast<char>(static_cast<unsigned char>(gathered >> static_cast<unsigned>(bits)));
  }
  return out;
}

} // namespace troupe
