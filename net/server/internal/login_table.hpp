// Browsers that have shown the token: each has a random cookie, which is worth nothing after a while or a logout.
//
// Thread-safe. Bounds: `max` logins, the oldest goes first.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe::net {

inline constexpr std::string_view login_cookie = "troupe_session";

// The value of a cookie in a Cookie header (RFC 6265, 4.2); empty when it is not there.
[[nodiscard]] std::string_view cookie_value(std::string_view header, std::string_view name) noexcept;

// What a Set-Cookie header says; an empty value takes the cookie back.
[[nodiscard]] std::string login_cookie_header(std::string_view value);

class login_table {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::size_t max = 1024;
  static constexpr std::chrono::hours lifetime{24 * 7};

  // A new value for a cookie: 256 random bits.
  [[nodiscard]] std::string add(time_point now);
  [[nodiscard]] bool holds(std::string_view value, time_point now) const;
  void remove(std::string_view value);

 private:
  struct login {
    std::string value;
    time_point since;
  };
  mutable std::mutex mutex_;
  std::deque<login> logins_; // the oldest first
};

} // namespace troupe::net
