// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/content_hash.hpp>

namespace troupe {

std::uint64_t content_hash(std::string_view text) noexcept {
  std::uint64_t hash = 14695981039346656037U;
  for (char c : text)
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211U;
  return hash;
}

std::string content_hash_hex(std::string_view text) {
  auto hash = content_hash(text);
  std::string out(16, '0');
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit, hash >>= 4)
    *digit = "0123456789abcdef"[hash & 15];
  return out;
}

} // namespace troupe
