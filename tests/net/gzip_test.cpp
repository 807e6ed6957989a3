// Compressed answers.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/gzip_inflater.hpp>
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>

#include "net/gzip.hpp"
#include "net/recorded.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

struct inflated {
  std::string text;
  inflate_status status = inflate_status::ok;
  bool complete = false;
};

inflated inflate_all(std::string_view bytes, std::size_t step, inflate_bounds bounds = {}) {
  gzip_inflater in(bounds);
  inflated out;
  for (std::size_t at = 0; at < bytes.size() && out.status == inflate_status::ok; at += step)
    out.status = in.feed(bytes.substr(at, step), [&](std::string_view piece) {
      out.text.append(piece);
      return true;
    });
  out.complete = in.is_complete();
  return out;
}

struct fixture {
  explicit fixture(test_server::script script, http_client_options options = {})
      : server(std::move(script)), client(pool, options) {}

  http_request request(std::string body) const {
    http_request r;
    r.origin = *http_origin::parse(server.url());
    r.body = {body_piece(std::make_shared<const std::string>(std::move(body)))};
    return r;
  }
  http_record ask(std::string body) {
    auto handler = std::make_shared<recording_handler>();
    auto call = client.start(request(std::move(body)), handler);
    return handler->wait();
  }

  test_server server;
  io_pool pool;
  http_client client;
};

constexpr const char* gzipped = "Content-Encoding: gzip\r\n";

} // namespace

TEST_CASE("what was compressed comes out again, however it is cut") {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += std::to_string(i * i) + ",";
  const auto whole = gzip(text);
  for (std::size_t step : {std::size_t{1}, std::size_t{7}, whole.size()}) {
    auto got = inflate_all(whole, step);
    CHECK(got.status == inflate_status::ok);
    CHECK(got.text == text);
    CHECK(got.complete);
  }
  CHECK(inflate_all(gzip("one ") + gzip("two"), 3).text == "one two");
  CHECK_FALSE(inflate_all(whole.substr(0, whole.size() - 1), 100).complete);
  CHECK(inflate_all("", 1).complete);
}

TEST_CASE("what is damaged or beyond the bounds is told") {
  CHECK(inflate_all("{\"not\": \"gzip\"}", 4).status == inflate_status::damaged);
  auto flipped = gzip("some text that is long enough to have a body");
  flipped[flipped.size() - 6] = static_cast<char>(flipped[flipped.size() - 6] ^ 1);
  CHECK(inflate_all(flipped, 5).status == inflate_status::damaged);
  CHECK(inflate_all(gzip("x") + "tail", 100).status == inflate_status::damaged);
  const auto bomb = gzip(std::string(8'000'000, 'x'));
  CHECK(inflate_all(bomb, 100).status == inflate_status::too_large);
  CHECK(inflate_all(bomb, 100, {.max_ratio = 2000}).status == inflate_status::ok);
  CHECK(inflate_all(bomb, 100, {.max_bytes = 7'999'999, .max_ratio = 2000}).status ==
        inflate_status::too_large);
}

TEST_CASE("a compressed answer is asked for and given inflated, and the connection serves again") {
  fixture f([](const seen_request& r) { return answer(200, gzip(r.body), "text/plain", gzipped); });
  CHECK(f.ask("hello").body == "hello");
  CHECK(f.ask("again").body == "again");
  CHECK(f.server.connections() == 1);
  CHECK(f.server.requests().at(0).head.find("\r\nAccept-Encoding: gzip\r\n") != std::string::npos);
}

TEST_CASE("each event of a compressed stream is there at once") {
  const auto first = gzip(std::vector<std::string>{"data: 1\n\n", "data: 2\n\n"});
  // The second event and the end of the file are held back.
  const auto cut = first.find(std::string("\0\0\xff\xff", 4)) + 4;
  fixture f([&](const seen_request&) {
    return scripted_reply{"HTTP/1.1 200 OK\r\nContent-Encoding: GZip\r\nContent-Length: " +
                          std::to_string(first.size()) + "\r\n\r\n" + first.substr(0, cut)};
  });
  auto handler = std::make_shared<recording_handler>();
  auto call = f.client.start(f.request("x"), handler);
  CHECK(handler->record.wait([](const auto& r) { return !r.body.empty(); }).body == "data: 1\n\n");
  f.server.push(first.substr(cut));
  auto record = handler->wait();
  CHECK(record.body == "data: 1\n\ndata: 2\n\n");
  CHECK(record.ends == 1);
}

TEST_CASE("compressed answers that cannot be read are errors, and their connections are not used again") {
  http_client_options options;
  options.max_body_bytes = 100'000;
  fixture f(
      [](const seen_request& r) {
        const auto whole = gzip("some text that is long enough");
        if (r.body == "damaged")
          return answer(200, "{}", "application/json", gzipped);
        if (r.body == "short")
          return answer(200, whole.substr(0, whole.size() - 3), "application/json", gzipped);
        if (r.body == "brotli")
          return answer(200, "{}", "application/json", "Content-Encoding: br\r\n");
        if (r.body == "large")
          return answer(200, gzip(std::string(100'001, 'x')), "application/json", gzipped);
        return answer(200, "{}", "application/json", "Content-Encoding: identity\r\n");
      },
      options);
  using kind = http_error_kind;
  std::size_t connections = 0;
  for (auto [body, expected, says] :
       {std::tuple{"damaged", kind::bad_response, "damaged"},
        std::tuple{"short", kind::bad_response, "ends before its end"},
        std::tuple{"brotli", kind::bad_response, "'br', which was not asked for"},
        std::tuple{"large", kind::body_too_large, "inflated"}}) {
    const auto& tried = body;
    CAPTURE(std::string(tried));
    auto record = f.ask(body);
    REQUIRE(record.error);
    CHECK(record.error->kind == expected);
    CHECK(record.error->message.find(says) != std::string::npos);
    CHECK(record.ends == 0);
    CHECK(f.server.connections() == ++connections);
  }
  CHECK(f.ask("plain").body == "{}");
}
