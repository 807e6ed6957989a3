// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_message.hpp>
#include <troupe/net/proxy.hpp>
#include <troupe/runtime/ascii_text.hpp>
#include <troupe/runtime/base64.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <charconv>

namespace troupe::net {

namespace {

constexpr std::uint16_t default_port = 1080;

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number number = 0;
  auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || bad != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

// Empty when `text` is no address. A mapped IPv4 address counts as the IPv4 address.
std::vector<std::uint8_t> address_bytes(std::string_view text) {
  boost::system::error_code bad;
  auto address = boost::asio::ip::make_address(std::string(text), bad);
  if (bad)
    return {};
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
  if (address.is_v4()) {
    auto bytes = address.to_v4().to_bytes();
    return {bytes.begin(), bytes.end()};
  }
  auto bytes = address.to_v6().to_bytes();
  return {bytes.begin(), bytes.end()};
}

bool in_network(const std::vector<std::uint8_t>& address, const std::vector<std::uint8_t>& network,
                unsigned prefix) {
  if (address.size() != network.size())
    return false;
  for (std::size_t i = 0; i < network.size() && prefix > 0; ++i) {
    auto bits = std::min(prefix, 8U);
    auto mask = static_cast<std::uint8_t>(0xffU << (8U - bits));
    if ((address[i] & mask) != (network[i] & mask))
      return false;
    prefix -= bits;
  }
  return true;
}

bool is_loopback(std::string_view host, const std::vector<std::uint8_t>& address) {
  if (address.empty())
    return host == "localhost" || host.ends_with(".localhost");
  if (address.size() == 4)
    return address[0] == 127;
  return std::all_of(address.begin(), address.end() - 1, [](auto byte) { return byte == 0; }) &&
         address.back() == 1;
}

error bad_proxy(std::string_view which, std::string_view what) {
  return {errc::bad_config, "The proxy for " + std::string(which) + " URLs " + std::string(what) +
                                ". A right one looks like http://proxy.example.com:3128."};
}

result<proxy_server> parse_server(std::string_view which, std::string url) {
  if (url.find("://") == std::string::npos)
    url.insert(0, "http://");
  auto parsed = boost::urls::parse_uri(url);
  if (!parsed)
    return bad_proxy(which, "is not a URL");
  if (parsed->scheme_id() != boost::urls::scheme::http)
    return bad_proxy(which, "is not spoken to by http, and nothing else is supported");
  if (parsed->host().empty())
    return bad_proxy(which, "names no host");
  proxy_server out;
  out.host = parsed->host_address();
  out.port = default_port;
  if (auto digits = std::string(parsed->port()); !digits.empty()) {
    auto port = to_number<std::uint16_t>(digits);
    if (!port || *port == 0)
      return bad_proxy(which, "has a port that is not between 1 and 65535");
    out.port = *port;
  }
  out.text = std::string(parsed->encoded_host()) + ":" + std::to_string(out.port);
  if (parsed->has_userinfo())
    out.authorization =
        "Basic " + encode_base64(std::string(parsed->user()) + ":" + std::string(parsed->password()));
  return out;
}

} // namespace

std::optional<proxy_rules::exception> proxy_rules::parse_exception(std::string_view text) {
  exception out;
  if (text == "*") {
    out.all = true;
    return out;
  }
  // "[::1]:80" and "name:80" carry a port; "::1" does not.
  auto colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  if (bracketed) {
    auto end = text.find(']');
    if (end == std::string_view::npos)
      return std::nullopt;
    colon = end + 1 < text.size() && text[end + 1] == ':' ? end + 1 : std::string_view::npos;
  } else if (colon != std::string_view::npos && text.find(':') != colon) {
    colon = std::string_view::npos;
  }
  if (colon != std::string_view::npos) {
    out.port = to_number<std::uint16_t>(text.substr(colon + 1));
    if (!out.port)
      return std::nullopt;
    text = text.substr(0, colon);
  }
  if (bracketed)
    text = text.substr(1, text.find(']') - 1);
  const auto slash = text.find('/');
  out.network = address_bytes(text.substr(0, slash));
  if (!out.network.empty()) {
    const auto all = static_cast<unsigned>(out.network.size() * 8);
    const auto prefix = slash == std::string_view::npos ? all : to_number<unsigned>(text.substr(slash + 1));
    if (!prefix || *prefix > all)
      return std::nullopt;
    out.prefix = *prefix;
    return out;
  }
  while (text.starts_with('.'))
    text.remove_prefix(1);
  if (text.starts_with("*."))
    text.remove_prefix(2);
  while (text.ends_with('.'))
    text.remove_suffix(1);
  if (text.empty() || slash != std::string_view::npos)
    return std::nullopt;
  out.host = ascii_lower(text);
  return out;
}

bool proxy_rules::fits(const exception& e, std::string_view host, const std::vector<std::uint8_t>& address,
                       std::uint16_t port) {
  if (e.all)
    return true;
  if (e.port && *e.port != port)
    return false;
  if (!e.network.empty())
    return in_network(address, e.network, e.prefix);
  if (!host.ends_with(e.host))
    return false;
  return host.size() == e.host.size() || host[host.size() - e.host.size() - 1] == '.';
}

result<std::shared_ptr<const proxy_rules>> proxy_rules::parse(const proxy_settings& settings) {
  auto rules = std::make_shared<proxy_rules>();
  rules->loopback_ = settings.loopback;
  struct row {
    std::string_view which;
    const std::string& url;
    std::optional<proxy_server>& out;
  };
  for (const auto& [which, url, out] :
       {row{"https", settings.https, rules->https_}, row{"http", settings.http, rules->http_}}) {
    if (url.empty())
      continue;
    auto server = parse_server(which, url);
    if (!server)
      return std::move(server).failure();
    out = *std::move(server);
  }
  std::string_view rest = settings.no_proxy;
  while (!rest.empty()) {
    auto end = std::min(rest.find_first_of(", \t"), rest.size());
    if (end > 0)
      if (auto parsed = parse_exception(rest.substr(0, end)))
        rules->exceptions_.push_back(*std::move(parsed));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {std::shared_ptr<const proxy_rules>(std::move(rules))};
}

const proxy_server* proxy_rules::find(const http_origin& origin) const {
  return find(origin.tls(), origin.host(), origin.port());
}

const proxy_server* proxy_rules::find(bool tls, std::string_view host, std::uint16_t port) const {
  const auto& server = tls ? https_ : http_;
  if (!server)
    return nullptr;
  auto name = ascii_lower(host);
  while (name.ends_with('.'))
    name.pop_back();
  const auto address = address_bytes(name);
  if (!loopback_ && is_loopback(name, address))
    return nullptr;
  const bool excepted = std::any_of(exceptions_.begin(), exceptions_.end(),
                                    [&](const auto& e) { return fits(e, name, address, port); });
  return excepted ? nullptr : &*server;
}

} // namespace troupe::net
