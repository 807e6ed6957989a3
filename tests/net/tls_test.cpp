// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>

#include "net/identity.hpp"
#include "net/recorded.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

http_record ask(const std::string& url, const std::string& ca_file, std::string body = "hello",
                int times = 1) {
  io_pool pool;
  http_client client(pool);
  auto origin = http_origin::parse(url, ca_file);
  REQUIRE(origin);
  http_record last;
  for (int i = 0; i < times; ++i) {
    http_request request;
    request.origin = *origin;
    for (std::size_t at = 0; at < body.size(); at += 7000)
      request.body.emplace_back(std::make_shared<const std::string>(body.substr(at, 7000)));
    auto handler = std::make_shared<recording_handler>();
    auto call = client.start(std::move(request), handler);
    last = handler->wait();
  }
  return last;
}

} // namespace

TEST_CASE("a server whose certificate is in order is talked to, by name and by address") {
  authority ca;
  test_server server([](const seen_request& r) { return answer(200, r.body); },
                     server_context(make_identity("x", "DNS:localhost,IP:127.0.0.1", &ca.self, -day, day)));
  CHECK(ask(server.url("localhost"), ca.file).body == "hello");
  CHECK(ask(server.url("127.0.0.1"), ca.file, "hello", 5).body == "hello");
  CHECK(server.connections() == 2);
  std::string large(1'000'000, 'x');
  CHECK(ask(server.url("127.0.0.1"), ca.file, large).body == large);
}

TEST_CASE("a certificate that is not in order is refused") {
  authority ca;
  authority other;
  auto script = [](const seen_request&) { return answer(200, "never"); };
  struct row {
    const char* reason;
    identity shown;
    std::string ca_file;
  };
  const row rows[] = {
      {"IP address mismatch", make_identity("x", "DNS:localhost", &ca.self, -day, day), ca.file},
      {"certificate has expired", make_identity("x", "IP:127.0.0.1", &ca.self, -2 * day, -day), ca.file},
      {"certificate is not yet valid", make_identity("x", "IP:127.0.0.1", &ca.self, day, 2 * day), ca.file},
      {"unable to get local issuer certificate", make_identity("x", "IP:127.0.0.1", &ca.self, -day, day), {}},
      {"", make_identity("x", "IP:127.0.0.1", &other.self, -day, day), ca.file},
  };
  for (const auto& [reason, shown, ca_file] : rows) {
    const auto& tried = reason;
    CAPTURE(tried);
    test_server server(script, server_context(shown));
    auto record = ask(server.url(), ca_file);
    REQUIRE(record.error);
    CHECK(record.error->kind == http_error_kind::tls);
    CHECK(record.error->message.find(reason) != std::string::npos);
    CHECK(server.requests().empty());
  }
  test_server named(script, server_context(make_identity("localhost", "DNS:elsewhere", &ca.self, -day, day)));
  auto record = ask(named.url("localhost"), ca.file);
  REQUIRE(record.error);
  CHECK(record.error->message.find("hostname mismatch") != std::string::npos);
}

TEST_CASE("a server that does not speak TLS fails the handshake in time") {
  authority ca;
  test_server plain([](const seen_request&) { return answer(200, "never"); });
  auto url = plain.url();
  url.replace(0, 4, "https");
  // It sees no request in what comes, so that only its own end can end the wait.
  io_pool pool;
  http_client client(pool);
  auto handler = std::make_shared<recording_handler>();
  http_request request;
  request.origin = *http_origin::parse(url, ca.file);
  request.timeouts.connect = std::chrono::milliseconds(60);
  auto call = client.start(std::move(request), handler);
  auto record = handler->wait();
  REQUIRE(record.error);
  CHECK(record.error->kind == http_error_kind::connect_timeout);
}
