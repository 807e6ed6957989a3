// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_message.hpp>

#include <algorithm>

namespace troupe::net {

namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

// RFC 9110, 5.6.2.
bool is_token(std::string_view text) noexcept {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    auto x = lower(c);
    return (x >= 'a' && x <= 'z') || (c >= '0' && c <= '9') || marks.find(c) != std::string_view::npos;
  });
}

bool is_field_value(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) {
    auto x = static_cast<unsigned char>(c);
    return x == '\t' || (x >= 0x20 && x != 0x7f);
  });
}

} // namespace

void http_headers::add(std::string_view name, std::string_view value) {
  auto start = static_cast<std::uint32_t>(text_.size());
  text_.append(name);
  auto middle = static_cast<std::uint32_t>(text_.size());
  text_.append(value);
  fields_.push_back({start, middle, static_cast<std::uint32_t>(text_.size())});
}

void http_headers::clear() noexcept {
  text_.clear();
  fields_.clear();
}

std::pair<std::string_view, std::string_view> http_headers::operator[](std::size_t i) const noexcept {
  const auto& f = fields_[i];
  auto text = std::string_view(text_);
  return {text.substr(f.name, f.value - f.name), text.substr(f.value, f.end - f.value)};
}

std::string_view http_headers::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (auto [key, value] = (*this)[i]; same_name(key, name))
      return value;
  return {};
}

result<std::shared_ptr<const std::string>>
make_header_lines(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string lines;
  for (const auto& [name, value] : fields) {
    if (!is_token(name))
      return {errc::bad_config, "The header name '" + name + "' is not valid: letters, digits and '-' are."};
    if (!is_field_value(value))
      return {errc::bad_config,
              "The value of the header '" + name + "' holds a line break or another control character."};
    lines.append(name).append(": ").append(value).append("\r\n");
  }
  return {std::make_shared<const std::string>(std::move(lines))};
}

errc to_errc(http_error_kind kind) noexcept {
  switch (kind) {
  case http_error_kind::resolve:
  case http_error_kind::connect:
  case http_error_kind::connect_timeout:
  case http_error_kind::proxy:
  case http_error_kind::proxy_refused:
    return errc::connection_failed;
  case http_error_kind::refused_address:
    return errc::not_allowed;
  case http_error_kind::tls:
    return errc::tls;
  case http_error_kind::dropped:
    return errc::connection_lost;
  case http_error_kind::first_byte_timeout:
  case http_error_kind::idle_timeout:
    return errc::stalled;
  case http_error_kind::total_timeout:
    return errc::timeout;
  case http_error_kind::header_too_large:
  case http_error_kind::body_too_large:
    return errc::too_large;
  case http_error_kind::bad_response:
    return errc::protocol;
  case http_error_kind::busy:
    return errc::busy;
  case http_error_kind::not_recorded:
    return errc::not_found;
  }
  return errc::internal;
}

} // namespace troupe::net
