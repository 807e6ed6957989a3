// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/access_guard.hpp>
#include <troupe/net/server/internal/listen_address.hpp>
#include <troupe/runtime/ascii_text.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace troupe::net {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 255 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':';
  });
}

constexpr std::array<std::string_view, 6> token_words = {"token",         "access_token", "api_key",
                                                         "authorization", "bearer",       "password"};

} // namespace

std::string host_name(std::string_view authority) {
  std::string_view name = authority;
  std::string_view port;
  if (name.starts_with('[')) {
    const auto end = name.find(']');
    if (end == std::string_view::npos)
      return {};
    port = name.substr(end + 1);
    name = name.substr(1, end - 1);
  } else if (const auto colon = name.find(':'); colon != std::string_view::npos) {
    port = name.substr(colon);
    name = name.substr(0, colon);
  }
  const bool good_port = port.empty() || (port.size() > 1 && port.size() <= 6 && port.front() == ':' &&
                                          std::all_of(port.begin() + 1, port.end(),
                                                      [](unsigned char c) { return std::isdigit(c) != 0; }));
  if (!good_port || !is_name(name))
    return {};
  auto out = ascii_lower(name);
  if (out.size() > 1 && out.ends_with('.'))
    out.pop_back();
  return out;
}

bool equal_secrets(std::string_view a, std::string_view b) noexcept {
  auto difference = static_cast<unsigned>(a.size() != b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i] ^ other);
  }
  return difference == 0;
}

access_guard::access_guard(std::string token, const std::vector<std::string>& names)
    : token_(std::move(token)) {
  for (const auto& name : names)
    names_.push_back(host_name(name));
  std::erase(names_, std::string{});
}

bool access_guard::is_own_name(const std::string& name, const std::string& local_address) const {
  if (name == local_address || std::find(names_.begin(), names_.end(), name) != names_.end())
    return true;
  return name == "localhost" && is_loopback_address(local_address);
}

std::optional<web_problem> access_guard::refuse_origin(const web_head& head) const {
  if (head.hosts != 1 || head.origins > 1 || head.authorizations > 1)
    return web_problem{400, "bad_request",
                       "A request needs one Host header, and Origin and Authorization once at most."};
  const auto name = host_name(head.host);
  if (name.empty())
    return web_problem{400, "bad_request", "The Host header is not a name with an optional port."};
  if (!is_own_name(name, head.local_address))
    return web_problem{421, "misdirected",
                       "This server is not called '" + name + "'; --allow-host NAME lets it be."};
  if (head.origins == 0)
    return std::nullopt;
  std::string_view origin = head.origin;
  const auto scheme = origin.find("://");
  const bool web = scheme != std::string_view::npos &&
                   (origin.substr(0, scheme) == "http" || origin.substr(0, scheme) == "https");
  if (!web || ascii_lower(origin.substr(scheme + 3)) != ascii_lower(head.host))
    return web_problem{403, "forbidden", "Pages of other origins may not call this server."};
  return std::nullopt;
}

std::optional<web_problem> access_guard::refuse_query(const request_target& target) {
  for (const auto& [key, value] : target.query)
    if (std::find(token_words.begin(), token_words.end(), ascii_lower(key)) != token_words.end())
      return web_problem{
          400, "bad_request",
          "A token does not belong into a URL; send it as the scheme Bearer of the header Authorization."};
  return std::nullopt;
}

bool access_guard::has_bearer(const web_head& head) const noexcept {
  constexpr std::string_view scheme = "bearer ";
  std::string_view text = head.authorization;
  if (text.size() < scheme.size())
    return false;
  for (std::size_t i = 0; i < scheme.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(text[i])) != scheme[i])
      return false;
  text.remove_prefix(scheme.size());
  while (text.starts_with(' '))
    text.remove_prefix(1);
  return is_token(text);
}

} // namespace troupe::net
