// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_message.hpp>
#include <troupe/net/internal/tls.hpp>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <charconv>

namespace troupe::net {

namespace {

error bad_url(std::string_view what) {
  return {errc::bad_config,
          "The base URL " + std::string(what) +
              ". A right one looks like https://api.example.com/v1 or http://127.0.0.1:8080/v1."};
}

} // namespace

http_origin::http_origin() = default;
http_origin::~http_origin() = default;

result<std::shared_ptr<http_origin>> http_origin::parse_url(std::string_view url, bool& secure) {
  auto parsed = boost::urls::parse_uri(url);
  if (!parsed)
    return bad_url("is not a URL");
  if (parsed->has_userinfo())
    return bad_url("carries a user name or password; give the key in its own option");
  if (parsed->has_query() || parsed->has_fragment())
    return bad_url("carries a query or fragment");
  secure = parsed->scheme_id() == boost::urls::scheme::https;
  if (!secure && parsed->scheme_id() != boost::urls::scheme::http)
    return bad_url("is neither http nor https");
  if (parsed->host().empty())
    return bad_url("names no host");
  std::uint16_t port = secure ? 443 : 80;
  if (auto digits = std::string(parsed->port()); !digits.empty()) {
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc{} || end != digits.data() + digits.size() || port == 0)
      return bad_url("has a port that is not between 1 and 65535");
  }

  std::shared_ptr<http_origin> origin(new http_origin);
  origin->host_ = parsed->host_address();
  origin->port_ = port;
  auto host = std::string(parsed->encoded_host());
  auto with_port = host + ":" + std::to_string(origin->port_);
  origin->authority_ = port == (secure ? 443 : 80) ? host : with_port;
  origin->base_path_ = std::string(parsed->encoded_path());
  while (origin->base_path_.ends_with('/'))
    origin->base_path_.pop_back();
  origin->text_ = (secure ? "https://" : "http://") + with_port;
  return {std::move(origin)};
}

result<std::shared_ptr<const http_origin>>
http_origin::parse(std::string_view url, const std::string& ca_file, address_reach reach) {
  bool secure = false;
  auto origin = parse_url(url, secure);
  if (!origin)
    return std::move(origin).failure();
  if (secure) {
    auto tls = make_tls_state(ca_file);
    if (!tls)
      return std::move(tls).failure();
    (*origin)->tls_ = *std::move(tls);
  }
  (*origin)->ca_file_ = ca_file;
  (*origin)->set_reach(reach);
  return {std::shared_ptr<const http_origin>(*std::move(origin))};
}

result<std::shared_ptr<const http_origin>> http_origin::parse(std::string_view url, const http_origin& like,
                                                              address_reach reach) {
  bool secure = false;
  auto origin = parse_url(url, secure);
  if (!origin)
    return std::move(origin).failure();
  if (secure)
    (*origin)->tls_ = like.tls_;
  (*origin)->ca_file_ = like.ca_file_;
  (*origin)->set_reach(reach);
  return {std::shared_ptr<const http_origin>(*std::move(origin))};
}

void http_origin::set_reach(address_reach reach) {
  reach_ = reach;
  pool_key_ = text_ + " " + ca_file_ + (reach == address_reach::public_only ? " public" : "");
}

} // namespace troupe::net
