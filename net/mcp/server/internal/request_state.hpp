// The requestState of MCP's newer revision: text that a client gives back, and cannot make or change.
//
// `<text>.<HMAC-SHA256 in hex>` under a key of this process. Pure but for the making of a key. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

class request_state {
 public:
  using key = std::array<unsigned char, 32>;
  // Absent when there is no randomness.
  [[nodiscard]] static std::optional<key> make_key();

  explicit request_state(const key& secret) noexcept : key_(secret) {}

  [[nodiscard]] std::string seal(std::string_view text) const;
  // The text; absent when it was not sealed with this key.
  [[nodiscard]] std::optional<std::string> open(std::string_view sealed) const;

 private:
  [[nodiscard]] std::string mac(std::string_view text) const;
  key key_;
};

} // namespace troupe::net
