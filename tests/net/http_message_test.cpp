// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_message.hpp>
#include <troupe/net/internal/retry_after.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;

TEST_CASE("a base URL is taken apart") {
  auto plain = http_origin::parse("http://example.com:8080/api/v1/");
  REQUIRE(plain);
  CHECK((*plain)->host() == "example.com");
  CHECK((*plain)->port() == 8080);
  CHECK((*plain)->authority() == "example.com:8080");
  CHECK((*plain)->base_path() == "/api/v1");
  CHECK_FALSE((*plain)->tls());
  auto secure = http_origin::parse("https://example.com");
  REQUIRE(secure);
  CHECK((*secure)->port() == 443);
  CHECK((*secure)->authority() == "example.com");
  CHECK((*secure)->base_path().empty());
  CHECK((*secure)->tls());
  auto six = http_origin::parse("http://[::1]:99/v1");
  REQUIRE(six);
  CHECK((*six)->host() == "::1");
  CHECK((*six)->authority() == "[::1]:99");
  CHECK((*six)->text() == "http://[::1]:99");
}

TEST_CASE("a base URL that cannot be right is refused with its reason and without its password") {
  for (std::string url : {"", "example.com", "ftp://example.com", "http://", "http://user:secret@example.com",
                          "http://example.com?key=secret", "http://example.com:0/",
                          "http://example.com:99999/", "http://a b/"}) {
    CAPTURE(url);
    auto origin = http_origin::parse(url);
    REQUIRE_FALSE(origin);
    CHECK(origin.failure().code == errc::bad_config);
    CHECK(origin.failure().message.find("secret") == std::string::npos);
  }
  CHECK_FALSE(http_origin::parse("https://example.com", "/no/such/file.pem"));
}

TEST_CASE("header lines are checked") {
  auto lines = make_header_lines({{"X-A", "1"}, {"x-b", "zwei ü"}});
  REQUIRE(lines);
  CHECK(**lines == "X-A: 1\r\nx-b: zwei ü\r\n");
  CHECK_FALSE(make_header_lines({{"X A", "1"}}));
  CHECK_FALSE(make_header_lines({{"", "1"}}));
  auto broken = make_header_lines({{"Authorization", "secret\r\nX: y"}});
  REQUIRE_FALSE(broken);
  CHECK(broken.failure().message.find("secret") == std::string::npos);
}

TEST_CASE("headers are found by name in any case") {
  http_headers headers;
  headers.add("Content-Type", "a/b");
  headers.add("X", "");
  headers.add("x", "second");
  CHECK(headers.size() == 3);
  CHECK(headers.find("content-type") == "a/b");
  CHECK(headers.find("X").empty());
  CHECK(headers.find("y").empty());
  CHECK(headers[2] == std::pair<std::string_view, std::string_view>("x", "second"));
}

TEST_CASE("Retry-After is seconds or a date") {
  // Sun, 06 Nov 1994 08:49:37 GMT
  auto now = std::chrono::system_clock::from_time_t(784111777);
  CHECK(parse_retry_after("2", now) == 2000ms);
  CHECK(parse_retry_after("0.25", now) == 250ms);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now) == 10s);
  CHECK(parse_retry_after("Sunday, 06-Nov-94 08:50:37 GMT", now) == 60s);
  CHECK(parse_retry_after("Sun Nov  6 08:49:38 1994", now) == 1s);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now) == 0ms);
  CHECK(parse_retry_after("99999999999999999999", now) == 7 * 24h);
  for (auto text :
       {"", "soon", "-", "1 2", "Sun, 06 Nov 1994", "Sun, 99 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 28:49:37 GMT"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_retry_after(text, now));
  }
}
