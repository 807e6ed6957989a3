// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/access_guard.hpp>
#include <troupe/net/server/internal/login_table.hpp>

#include <array>
#include <random>

namespace troupe::net {
namespace {

std::string random_hex() {
  std::random_device source; // the system's generator, on Linux
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (int word = 0; word < 8; ++word) {
    auto bits = source();
    for (int i = 0; i < 8; ++i, bits >>= 4)
      out += digits[bits & 15U];
  }
  return out;
}

} // namespace

std::string_view cookie_value(std::string_view header, std::string_view name) noexcept {
  while (!header.empty()) {
    const auto end = header.find(';');
    auto pair = header.substr(0, end);
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 1);
    while (pair.starts_with(' '))
      pair.remove_prefix(1);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return pair.substr(name.size() + 1);
  }
  return {};
}

std::string login_cookie_header(std::string_view value) {
  std::string out{login_cookie};
  out.append("=").append(value).append("; Path=/; HttpOnly; SameSite=Strict");
  if (value.empty())
    out += "; Max-Age=0";
  return out;
}

std::string login_table::add(time_point now) {
  std::lock_guard lock{mutex_};
  while (!logins_.empty() && (logins_.size() >= max || now - logins_.front().since >= lifetime))
    logins_.pop_front();
  logins_.push_back({random_hex(), now});
  return logins_.back().value;
}

bool login_table::holds(std::string_view value, time_point now) const {
  if (value.empty())
    return false;
  std::lock_guard lock{mutex_};
  bool found = false;
  for (const auto& l : logins_)
    found |= equal_secrets(value, l.value) && now - l.since < lifetime;
  return found;
}

void login_table::remove(std::string_view value) {
  std::lock_guard lock{mutex_};
  std::erase_if(logins_, [value](const login& l) { return equal_secrets(value, l.value); });
}

} // namespace troupe::net
