// Which requests go through a proxy, and which one.
//
// The rules are those of curl's environment variables: NO_PROXY holds names, each of which also stands for its
// subdomains, addresses, networks ("10.0.0.0/8"), any of them with a port ("example.com:8080"), or "*" for all hosts.
// Loopback is reached directly. Nothing here reads the environment.
//
// Immutable once made, thread-safe. Messages show hosts and ports of proxies, never their user names and passwords.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

class http_origin;

// Texts as they stand in the environment.
struct proxy_settings {
  std::string https{};    // for https URLs: "http://user:password@host:port"; empty: none
  std::string http{};     // for http URLs
  std::string no_proxy{}; // who is reached directly
  bool loopback = false;  // loopback is no exception
};

struct proxy_server {
  std::string host{};     // without the brackets of IPv6
  std::uint16_t port = 0; // 1080 when the URL has none, as with curl
  std::string
      authorization{}; // "Basic …" of RFC 7617 for Proxy-Authorization; secret; empty when there is no user
  std::string text{};  // for messages: "host:port"
};

class proxy_rules {
 public:
  // A proxy's URL may lack its scheme. Fails with bad_config when it is not usable: proxies are spoken to in plain HTTP.
  // What in `no_proxy` makes no sense fits nothing.
  [[nodiscard]] static result<std::shared_ptr<const proxy_rules>> parse(const proxy_settings& settings);

  // The proxy for requests to `origin`, valid as long as the rules; null when they go directly.
  [[nodiscard]] const proxy_server* find(const http_origin& origin) const;
  // The same for a host without brackets.
  [[nodiscard]] const proxy_server* find(bool tls, std::string_view host, std::uint16_t port) const;

 private:
  struct exception {
    std::string host;                  // lower case, without a first dot; empty for networks and "*"
    std::vector<std::uint8_t> network; // bytes of the address
    unsigned prefix = 0;               // how many of its bits count
    std::optional<std::uint16_t> port; // any when absent
    bool all = false;
  };
  [[nodiscard]] static std::optional<exception> parse_exception(std::string_view text);
  [[nodiscard]] static bool fits(const exception& e, std::string_view host,
                                 const std::vector<std::uint8_t>& address, std::uint16_t port);

  std::optional<proxy_server> https_;
  std::optional<proxy_server> http_;
  std::vector<exception> exceptions_;
  bool loopback_ = false;
};

} // namespace troupe::net
