// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/address.hpp>
#include <troupe/net/http_message.hpp>
#include <troupe/net/internal/address_rules.hpp>
#include <troupe/runtime/ascii_text.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cctype>

namespace troupe::net::a2a {
namespace {

namespace ip = boost::asio::ip;

// "2130706433", "0x7f.1": what resolvers take for addresses without being one in writing.
bool is_numeric_name(std::string_view host) {
  const auto last = host.substr(host.rfind('.') + 1);
  const bool digits = !last.empty() && std::all_of(last.begin(), last.end(),
                                                   [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits || last.starts_with("0x");
}

bool ends_in(std::string_view host, std::string_view name) {
  return host == name || (host.ends_with(name) && host[host.size() - name.size() - 1] == '.');
}

} // namespace

result<web_url> split_url(std::string_view url, std::string_view what) {
  const auto fail = [&what](const std::string& why) {
    return error{errc::bad_config, "The URL of " + std::string{what} + " " + why};
  };
  url = url.substr(0, url.find('#'));
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos)
    return fail("must begin with https:// or http://.");
  const auto path = url.find_first_of("/?", scheme + 3);
  auto origin = http_origin::parse(url.substr(0, path));
  if (!origin)
    return fail("cannot be used: " + origin.failure().message);
  web_url out;
  out.secure = (*origin)->tls();
  out.host = ascii_lower((*origin)->host());
  while (out.host.ends_with('.'))
    out.host.pop_back();
  out.port = (*origin)->port();
  const bool v6 = out.host.find(':') != std::string::npos;
  out.origin = (out.secure ? "https://" : "http://") + (v6 ? "[" + out.host + "]" : out.host) + ":" +
               std::to_string(out.port);
  if (path != std::string_view::npos)
    out.target = (url[path] == '?' ? "/" : "") + std::string{url.substr(path)};
  for (const char c : out.target)
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      return fail("holds blanks or characters that must be percent-encoded.");
  return out;
}

bool is_private_host(std::string_view host) {
  while (host.ends_with('.'))
    host.remove_suffix(1);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  boost::system::error_code failed;
  const auto address = ip::make_address(host.substr(0, host.find('%')), failed);
  if (!failed)
    return !is_public_address(address);
  const auto name = ascii_lower(host);
  return name.empty() || is_numeric_name(name) || ends_in(name, "localhost") || ends_in(name, "local") ||
         ends_in(name, "internal");
}

status check_address(const web_url& url, const address_policy& policy) {
  const bool named = !policy.named_origin.empty() && policy.named_origin == url.origin;
  if (policy.allow_private || named || !is_private_host(url.host))
    return ok();
  return error{errc::not_allowed,
               "The card names " + url.origin +
                   ", which is no public address; write allow_private: true in the agent's "
                   "definition if that is meant."};
}

bool may_have_credentials(const web_url& url, const address_policy& policy) noexcept {
  return policy.named_origin.empty() || policy.named_origin == url.origin;
}

} // namespace troupe::net::a2a
