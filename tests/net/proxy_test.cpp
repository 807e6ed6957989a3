// Requests through a proxy. Names of hosts are such that only the proxy could find them.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/proxy.hpp>

#include <doctest/doctest.h>

#include "net/identity.hpp"
#include "net/recorded.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

http_client_options through(const test_server& proxy, const std::string& user = {}) {
  const auto url = "http://" + user + "127.0.0.1:" + std::to_string(proxy.port());
  http_client_options options;
  options.proxies = *proxy_rules::parse({.https = url, .http = url, .no_proxy = "direct.invalid"});
  return options;
}

http_record ask(http_client& client, const std::string& url, const std::string& ca_file = {}) {
  http_request request;
  request.origin = *http_origin::parse(url, ca_file);
  request.target = "/v1/x";
  request.body = {body_piece(std::make_shared<const std::string>("hello"))};
  auto handler = std::make_shared<recording_handler>();
  auto call = client.start(std::move(request), handler);
  return handler->wait();
}

} // namespace

TEST_CASE("a plain request is handed to the proxy with its whole URL and the proxy's credentials") {
  test_server proxy([](const seen_request& r) { return answer(200, r.body); });
  io_pool pool;
  http_client client(pool, through(proxy, "me:hidden@"));
  CHECK(ask(client, "http://models.invalid").body == "hello");
  CHECK(ask(client, "http://models.invalid").body == "hello");
  CHECK(proxy.connections() == 1);
  const auto head = proxy.requests().at(0).head;
  CHECK(head.starts_with("POST http://models.invalid/v1/x HTTP/1.1\r\nHost: models.invalid\r\n"
                         "Proxy-Authorization: Basic bWU6aGlkZGVu\r\n"));
  auto direct = ask(client, "http://direct.invalid");
  REQUIRE(direct.error);
  CHECK(direct.error->kind == http_error_kind::resolve);
}

TEST_CASE("loopback is reached without the proxy") {
  test_server proxy([](const seen_request&) { return answer(500, "no"); });
  test_server server([](const seen_request& r) { return answer(200, r.body); });
  io_pool pool;
  http_client client(pool, through(proxy));
  CHECK(ask(client, server.url()).body == "hello");
  CHECK(proxy.connections() == 0);
}

TEST_CASE("https goes through a tunnel, in which the certificate is checked against the host") {
  authority ca;
  test_server server([](const seen_request& r) { return answer(200, r.body); },
                     server_context(make_identity("x", "DNS:models.invalid", &ca.self, -day, day)));
  test_server proxy([&](const seen_request&) {
    return scripted_reply{"HTTP/1.1 200 Connection established\r\n\r\n", scripted_reply::then::keep,
                          server.port()};
  });
  io_pool pool;
  http_client client(pool, through(proxy, "me:hidden@"));
  CHECK(ask(client, "https://models.invalid", ca.file).body == "hello");
  CHECK(ask(client, "https://models.invalid", ca.file).body == "hello");
  REQUIRE(proxy.requests().size() == 1);
  CHECK(proxy.requests()[0].head == "CONNECT models.invalid:443 HTTP/1.1\r\nHost: models.invalid:443\r\n"
                                    "Proxy-Authorization: Basic bWU6aGlkZGVu");
  const auto seen = server.requests().at(0).head;
  CHECK(seen.starts_with("POST /v1/x HTTP/1.1\r\nHost: models.invalid\r\n"));
  CHECK(seen.find("Proxy") == std::string::npos);
  auto other = ask(client, "https://other.invalid", ca.file);
  REQUIRE(other.error);
  CHECK(other.error->kind == http_error_kind::tls);
}

TEST_CASE("a proxy that gives no tunnel is named, and its password is not") {
  std::string reply;
  auto then = scripted_reply::then::keep;
  test_server proxy([&](const seen_request&) { return scripted_reply{reply, then}; });
  io_pool pool;
  http_client client(pool, through(proxy, "me:hidden@"));
  using kind = http_error_kind;
  struct row {
    std::string reply;
    kind expected;
    const char* says;
  };
  for (const auto& [text, expected, says] :
       {row{"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", kind::proxy_refused, "407"},
        row{"HTTP/1.1 403 Forbidden\r\n\r\n", kind::proxy_refused, "status 403"},
        row{"HTTP/1.1 502 Bad Gateway\r\n\r\n", kind::proxy, "status 502"},
        row{"SSH-2.0-OpenSSH\r\n\r\n", kind::proxy_refused, "no HTTP"},
        row{"HTTP/1.1 200 OK\r\n\r\nearly", kind::proxy, "before it was asked"},
        row{"HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), kind::proxy, "too long"},
        row{"", kind::proxy, "closed the connection"}}) {
    CAPTURE(says);
    reply = text;
    then = text.empty() ? scripted_reply::then::close : scripted_reply::then::keep;
    auto record = ask(client, "https://models.invalid");
    REQUIRE(record.error);
    CHECK(record.error->kind == expected);
    const auto& message = record.error->message;
    CHECK(message.find(says) != std::string::npos);
    CHECK(message.find("proxy 127.0.0.1:" + std::to_string(proxy.port())) != std::string::npos);
    CHECK(message.find("hidden") == std::string::npos);
  }
}

TEST_CASE("a proxy that says nothing, or is not there, ends the wait") {
  io_pool pool;
  http_client_options options;
  {
    test_server silent([](const seen_request&) { return scripted_reply{}; });
    options = through(silent);
    http_client client(pool, options);
    http_request request;
    request.origin = *http_origin::parse("https://models.invalid");
    request.timeouts.connect = std::chrono::milliseconds(60);
    auto handler = std::make_shared<recording_handler>();
    auto call = client.start(std::move(request), handler);
    auto record = handler->wait();
    REQUIRE(record.error);
    CHECK(record.error->kind == http_error_kind::connect_timeout);
  }
  http_client client(pool, options);
  auto record = ask(client, "https://models.invalid");
  REQUIRE(record.error);
  CHECK(record.error->kind == http_error_kind::proxy);
}
