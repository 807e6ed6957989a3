// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/server/internal/request_state.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace troupe::net {

std::optional<request_state::key> request_state::make_key() {
  key made{};
  if (RAND_bytes(made.data(), static_cast<int>(made.size())) != 1)
    return std::nullopt;
  return made;
}

std::string request_state::mac(std::string_view text) const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(), &size);
  std::string out;
  for (unsigned int i = 0; i < size; ++i)
    out += {digits[bytes[i] >> 4U], digits[bytes[i] & 15U]};
  return out;
}

std::string request_state::seal(std::string_view text) const {
  return std::string{text} + "." + mac(text);
}

std::optional<std::string> request_state::open(std::string_view sealed) const {
  const auto dot = sealed.rfind('.');
  if (dot == std::string_view::npos)
    return std::nullopt;
  const auto wanted = mac(sealed.substr(0, dot));
  const auto given = sealed.substr(dot + 1);
  if (given.size() != wanted.size() || CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) != 0)
    return std::nullopt;
  return std::string{sealed.substr(0, dot)};
}

} // namespace troupe::net
