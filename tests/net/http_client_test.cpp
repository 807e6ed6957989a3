// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <thread>

#include "net/recorded.hpp"
#include "support/test_server.hpp"
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

body_piece piece(std::string text) {
  return {std::make_shared<const std::string>(std::move(text))};
}

http_request request_to(const std::string& url, std::vector<body_piece> body = {}) {
  auto origin = http_origin::parse(url);
  REQUIRE(origin);
  http_request request;
  request.origin = *origin;
  request.body = std::move(body);
  return request;
}

struct fixture {
  explicit fixture(test_server::script script, http_client_options options = {})
      : server(std::move(script)), client(pool, options) {}

  http_record ask(http_request request) {
    auto handler = std::make_shared<recording_handler>();
    auto call = client.start(std::move(request), handler);
    return handler->wait();
  }
  http_record ask() { return ask(request_to(server.url(), {piece("hello")})); }

  test_server server;
  io_pool pool;
  http_client client;
};

std::uint16_t unused_port() {
  auto fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

} // namespace

TEST_CASE("a request's pieces arrive as one body, and the answer comes back") {
  fixture f([](const seen_request& r) { return answer(200, "you said " + r.body, "text/plain"); });
  auto request = request_to(f.server.url() + "/v1/",
                            {piece("one "), {piece(",two").text, 1}, piece(""), piece(" three")});
  request.target = "/v1/x y\r\nEvil: 1";
  request.header_lines = *make_header_lines({{"X-Kind", "test"}});
  auto record = f.ask(request);
  CHECK(record.status == 200);
  CHECK(record.type == "text/plain");
  CHECK(record.body == "you said one two three");
  CHECK(record.heads == 1);
  CHECK(record.ends == 1);
  auto head = f.server.requests().at(0).head;
  CHECK(head.starts_with("POST /v1/x%20y%0D%0AEvil:%201 HTTP/1.1\r\nHost: 127.0.0.1:"));
  CHECK(head.find("\r\nX-Kind: test\r\nContent-Length: 13") != std::string::npos);
}

TEST_CASE("a connection serves one request after the other") {
  fixture f([](const seen_request&) { return answer(200, "ok"); });
  for (int i = 0; i < 20; ++i)
    CHECK(f.ask().body == "ok");
  CHECK(f.server.connections() == 1);
}

TEST_CASE("a server that closes idle connections is asked again on a fresh one") {
  fixture f([](const seen_request&) { return answer(200, "ok"); });
  CHECK(f.ask().body == "ok");
  f.server.close_all();
  CHECK(f.ask().body == "ok");
  CHECK(f.server.connections() == 2);
}

TEST_CASE("a reused connection that is closed before the answer is retried once, a fresh one is not") {
  int count = 0;
  fixture f([&](const seen_request&) -> scripted_reply {
    return ++count == 1 ? answer(200, "ok") : scripted_reply{{}, scripted_reply::then::close};
  });
  CHECK(f.ask().body == "ok");
  auto record = f.ask();
  REQUIRE(record.error);
  CHECK(record.error->kind == http_error_kind::dropped);
  CHECK(f.server.requests().size() == 3);
  record = f.ask();
  REQUIRE(record.error);
  CHECK(f.server.requests().size() == 4);
}

TEST_CASE("an answer may be chunked, end with the connection, or be preceded by a provisional one") {
  fixture f([](const seen_request& r) -> scripted_reply {
    auto keep = scripted_reply::then::keep;
    if (r.body == "chunked")
      return {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: "
              "t\r\n\r\n",
              keep};
    if (r.body == "provisional")
      return {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde",
              keep};
    if (r.body == "none")
      return {"HTTP/1.1 204 No Content\r\n\r\n", keep};
    return {open_head("text/plain") + "abcde", scripted_reply::then::close};
  });
  for (auto body : {"chunked", "provisional", "close"}) {
    auto record = f.ask(request_to(f.server.url(), {piece(body)}));
    CHECK(record.status == 200);
    CHECK(record.body == "abcde");
    CHECK(record.heads == 1);
  }
  CHECK(f.server.connections() == 1);
  CHECK(f.ask(request_to(f.server.url(), {piece("none")})).status == 204);
}

TEST_CASE("a large body goes both ways") {
  fixture f([](const seen_request& r) { return answer(200, r.body); });
  std::vector<body_piece> body;
  std::string all;
  for (int i = 0; i < 300; ++i) {
    std::string text(static_cast<std::size_t>(i * 97), static_cast<char>('a' + i % 26));
    all += text;
    body.push_back(piece(text));
  }
  CHECK(f.ask(request_to(f.server.url(), body)).body == all);
}

TEST_CASE("cancelling closes the connection, and nothing is called any more") {
  fixture f([](const seen_request& r) -> scripted_reply {
    if (r.body == "silent")
      return {};
    return {open_head("text/plain") + "some"};
  });
  SUBCASE("before an answer") {
    auto handler = std::make_shared<recording_handler>();
    {
      auto call = f.client.start(request_to(f.server.url(), {piece("silent")}), handler);
      CHECK(f.server.wait_requests(1));
    }
    CHECK(f.server.wait_closed_by_client(1));
    CHECK_FALSE(handler->record.wait([](const auto&) { return true; }).over());
  }
  SUBCASE("in the middle of an answer") {
    auto handler = std::make_shared<recording_handler>();
    {
      auto call = f.client.start(request_to(f.server.url()), handler);
      CHECK(handler->record.wait([](const auto& r) { return r.body == "some"; }).status == 200);
    }
    CHECK(f.server.wait_closed_by_client(1));
    CHECK_FALSE(handler->record.wait([](const auto&) { return true; }).over());
  }
  SUBCASE("at the end of the client") {
    auto handler = std::make_shared<recording_handler>();
    http_call call;
    {
      http_client other(f.pool);
      call = other.start(request_to(f.server.url(), {piece("silent")}), handler);
      CHECK(f.server.wait_requests(1));
    }
    CHECK(f.server.wait_closed_by_client(1));
    CHECK_FALSE(handler->record.wait([](const auto&) { return true; }).over());
  }
}

TEST_CASE("a call may be destroyed in its own callback") {
  struct self_ending final : http_handler {
    void on_head(int, const http_headers&) override {}
    void on_data(std::string_view) override {
      call = {};
      ++*count;
    }
    void on_end() override { ++*count; }
    void on_error(const http_error&) override { ++*count; }
    http_call call;
    std::shared_ptr<std::atomic<int>> count;
  };
  fixture f([](const seen_request&) { return answer(200, "ok"); });
  auto handler = std::make_shared<self_ending>();
  auto count = handler->count = std::make_shared<std::atomic<int>>(0);
  // The pool's thread is kept busy until the handle is in its place.
  std::promise<void> ready;
  auto hold = f.pool.after(0ms, [&] { ready.get_future().wait(); });
  handler->call = f.client.start(request_to(f.server.url()), handler);
  handler.reset();
  ready.set_value();
  CHECK(f.server.wait_closed_by_client(1));
  CHECK(*count == 1);
}

TEST_CASE("every way to fail has its own kind") {
  http_client_options options;
  options.max_header_bytes = 8192;
  options.max_body_bytes = 1000;
  fixture f(
      [](const seen_request& r) -> scripted_reply {
        using then = scripted_reply::then;
        if (r.body == "drop")
          return {{}, then::close};
        if (r.body == "reset")
          return {{}, then::reset};
        if (r.body == "cut")
          return {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", then::close};
        if (r.body == "cut chunk")
          return {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc", then::close};
        if (r.body == "big")
          return answer(200, std::string(1001, 'x'));
        if (r.body == "big chunk")
          return {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'x')};
        if (r.body == "long head")
          return answer(200, "x", "a/b", "X: " + std::string(9000, 'x') + "\r\n");
        if (r.body == "no http")
          return {"SSH-2.0-OpenSSH_9\r\n\r\n"};
        if (r.body == "stall")
          return {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"};
        return {};
      },
      options);
  using kind = http_error_kind;
  struct row {
    const char* body;
    kind expected;
  };
  for (auto [body, expected] : {row{"drop", kind::dropped}, row{"reset", kind::dropped},
                                row{"cut", kind::dropped}, row{"cut chunk", kind::dropped},
                                row{"big", kind::body_too_large}, row{"big chunk", kind::body_too_large},
                                row{"long head", kind::header_too_large}, row{"no http", kind::bad_response},
                                row{"stall", kind::idle_timeout}, row{"silence", kind::first_byte_timeout}}) {
    const auto& tried = body;
    CAPTURE(tried);
    auto request = request_to(f.server.url(), {piece(body)});
    request.timeouts.first_byte = 50ms;
    request.timeouts.idle = 50ms;
    auto record = f.ask(std::move(request));
    REQUIRE(record.error);
    CHECK(record.error->kind == expected);
    CHECK(record.error->message.starts_with("http://127.0.0.1:"));
    CHECK(record.ends == 0);
  }
  auto request = request_to(f.server.url(), {piece("silence")});
  request.timeouts.total = 50ms;
  CHECK(f.ask(std::move(request)).error->kind == kind::total_timeout);
  CHECK(f.ask(request_to("http://127.0.0.1:" + std::to_string(unused_port()))).error->kind == kind::connect);
  CHECK(f.ask(request_to("http://no-such-host.invalid")).error->kind == kind::resolve);
}

TEST_CASE("a name is resolved, and its addresses are tried in turn") {
  fixture f([](const seen_request&) { return answer(200, "ok"); });
  auto url = f.server.url("localhost");
  CHECK(f.ask(request_to(url)).body == "ok");
  CHECK(f.ask(request_to(url)).body == "ok");
  CHECK(f.server.connections() == 1);
}

TEST_CASE(
    "a request for public addresses reaches no other, by number, by name or on a connection that is there") {
  fixture f([](const seen_request&) { return answer(200, "secret"); });
  for (const auto& url : {f.server.url(), f.server.url("localhost")}) {
    CHECK(f.ask(request_to(url)).body == "secret"); // leaves a connection
    auto request = request_to(url);
    request.origin = *http_origin::parse(url, std::string{}, address_reach::public_only);
    const auto refused = f.ask(std::move(request));
    REQUIRE(refused.error);
    CHECK(refused.error->kind == http_error_kind::refused_address);
    CHECK(refused.body.empty());
  }
  CHECK(f.server.connections() == 2);
}

TEST_CASE("a thousand requests at once, with and without a bound on connections") {
  http_client_options options;
  std::size_t bound = 0;
  SUBCASE("unbounded") {}
  SUBCASE("bounded") {
    bound = options.max_connections_per_host = 7;
  }
  fixture f([](const seen_request& r) { return answer(200, r.body); }, options);
  std::vector<std::shared_ptr<recording_handler>> handlers;
  std::vector<http_call> calls;
  for (int i = 0; i < 1000; ++i) {
    handlers.push_back(std::make_shared<recording_handler>());
    calls.push_back(f.client.start(request_to(f.server.url(), {piece(std::to_string(i))}), handlers.back()));
  }
  int good = 0;
  for (int i = 0; i < 1000; ++i)
    good += handlers[static_cast<std::size_t>(i)]->wait().body == std::to_string(i) ? 1 : 0;
  CHECK(good == 1000);
  if (bound > 0)
    CHECK(f.server.connections() == bound);
}

TEST_CASE("requests beyond the bound of those that wait fail as busy") {
  http_client_options options;
  options.max_connections_per_host = 1;
  options.max_waiting_per_host = 1;
  fixture f([](const seen_request&) { return scripted_reply{}; }, options);
  auto first = std::make_shared<recording_handler>();
  auto second = std::make_shared<recording_handler>();
  auto one = f.client.start(request_to(f.server.url()), first);
  auto two = f.client.start(request_to(f.server.url()), second);
  CHECK(f.ask().error->kind == http_error_kind::busy);
  CHECK(f.server.wait_requests(1));
  one = {};
  // The one that waited has its turn.
  CHECK(f.server.wait_requests(2));
  CHECK_FALSE(second->record.wait([](const auto&) { return true; }).over());
}

TEST_CASE("connections that idle for too long are closed") {
  http_client_options options;
  options.idle_connection = 40ms;
  fixture f([](const seen_request&) { return answer(200, "ok"); }, options);
  CHECK(f.ask().body == "ok");
  CHECK(f.server.wait_closed_by_client(1));
}

TEST_CASE("calls are started and cancelled on many threads at once") {
  test_server server([](const seen_request& r) { return answer(200, r.body); });
  io_pool pool({.threads = 2});
  http_client client(pool);
  auto origin = *http_origin::parse(server.url());
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::vector<std::pair<std::shared_ptr<recording_handler>, http_call>> kept;
      for (int i = 0; i < 100; ++i) {
        http_request request;
        request.origin = origin;
        request.body = {piece("x")};
        auto handler = std::make_shared<recording_handler>();
        auto call = client.start(std::move(request), handler);
        if (i % 2 == 0)
          kept.emplace_back(handler, std::move(call));
      }
      for (auto& [handler, call] : kept)
        good += handler->wait().body == "x" ? 1 : 0;
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(good == 200);
}
