// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/proxy.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::net;

namespace {

std::shared_ptr<const proxy_rules> rules(proxy_settings settings) {
  auto parsed = proxy_rules::parse(settings);
  REQUIRE(parsed);
  return *parsed;
}

} // namespace

TEST_CASE("each scheme has its proxy, and a proxy its host, port and credentials") {
  auto both = rules({.https = "http://us%40er:p%3Aw@Proxy.example:3128/", .http = "[::1]:8080"});
  const auto* https = both->find(true, "api.example.com", 443);
  REQUIRE(https != nullptr);
  CHECK(https->host == "Proxy.example");
  CHECK(https->port == 3128);
  CHECK(https->text == "Proxy.example:3128");
  CHECK(https->authorization == "Basic dXNAZXI6cDp3");
  const auto* http = both->find(false, "api.example.com", 80);
  REQUIRE(http != nullptr);
  CHECK(http->host == "::1");
  CHECK(http->port == 8080);
  CHECK(http->authorization.empty());
  CHECK(rules({.https = "proxy"})->find(true, "a", 443)->port == 1080);
  CHECK(rules({.https = "proxy"})->find(false, "a", 80) == nullptr);
  CHECK(rules({})->find(true, "a", 443) == nullptr);
}

TEST_CASE("loopback is reached directly unless it is named") {
  for (auto host :
       {"localhost", "LOCALHOST", "models.localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    CAPTURE(std::string(host));
    CHECK(rules({.https = "p:1", .http = "p:1"})->find(true, host, 443) == nullptr);
    CHECK(rules({.https = "p:1", .http = "p:1"})->find(false, host, 80) == nullptr);
    CHECK(rules({.https = "p:1", .http = "p:1", .loopback = true})->find(false, host, 80) != nullptr);
  }
  CHECK(rules({.https = "p:1"})->find(true, "localhost.example", 443) != nullptr);
  CHECK(rules({.https = "p:1"})->find(true, "128.0.0.1", 443) != nullptr);
}

TEST_CASE("NO_PROXY takes names with their subdomains, addresses, networks, ports and a star") {
  struct row {
    const char* no_proxy;
    const char* host;
    std::uint16_t port;
    bool proxied;
  };
  for (auto [no_proxy, host, port, proxied] : {
           row{"", "a.example", 443, true},
           row{"*", "a.example", 443, false},
           row{"x.org, example.com", "example.com", 443, false},
           row{"x.org example.com", "Sub.Example.COM.", 443, false},
           row{".example.com", "example.com", 443, false},
           row{"*.example.com", "a.example.com", 443, false},
           row{"example.com", "badexample.com", 443, true},
           row{"sub.example.com", "example.com", 443, true},
           row{"example.com:8443", "example.com", 8443, false},
           row{"example.com:8443", "example.com", 443, true},
           row{"10.0.0.0/8", "10.200.1.1", 443, false},
           row{"10.0.0.0/8", "11.0.0.1", 443, true},
           row{"10.0.0.0/8", "10.example.com", 443, true},
           row{"192.168.4.0/22", "192.168.7.255", 443, false},
           row{"192.168.4.0/22", "192.168.8.0", 443, true},
           row{"192.168.1.5", "192.168.1.5", 443, false},
           row{"192.168.1.5:80", "192.168.1.5", 443, true},
           row{"fd00::/8", "fd12::1", 443, false},
           row{"fd00::/8", "fe80::1", 443, true},
           row{"[fd12::1]:443", "fd12::1", 443, false},
           row{"[fd12::1]:80", "fd12::1", 443, true},
           row{"fd12::1", "fd12:0::1", 443, false},
           row{"0.0.0.0/0", "8.8.8.8", 443, false},
           row{"10.0.0.0/33,a.example:x,[fd00,/8,.", "a.example", 443, true},
       }) {
    CAPTURE(std::string(no_proxy));
    CAPTURE(std::string(host));
    auto parsed = rules({.https = "http://p:1", .no_proxy = no_proxy});
    CHECK((parsed->find(true, host, port) != nullptr) == proxied);
  }
}

TEST_CASE("a proxy that cannot be used is refused without showing its password") {
  for (auto url : {"socks5://u:hidden@p:1", "https://u:hidden@p:1", "http://u:hidden@p:99999",
                   "http://u:hidden@p:0", "http://u:hidden@", "http://u:hidden@p p"}) {
    CAPTURE(std::string(url));
    auto parsed = proxy_rules::parse({.https = url});
    REQUIRE_FALSE(parsed);
    CHECK(parsed.failure().code == errc::bad_config);
    CHECK(parsed.failure().message.find("https") != std::string::npos);
    CHECK(parsed.failure().message.find("hidden") == std::string::npos);
  }
}
