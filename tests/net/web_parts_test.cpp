// The pure parts of the server: targets, routes, who may call, rates, cookies, files, heads.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/access_guard.hpp>
#include <troupe/net/server/internal/answer_head.hpp>
#include <troupe/net/server/internal/listen_address.hpp>
#include <troupe/net/server/internal/login_table.hpp>
#include <troupe/net/server/internal/rate_limiter.hpp>
#include <troupe/net/server/internal/request_target.hpp>
#include <troupe/net/server/internal/router.hpp>
#include <troupe/net/server/internal/static_answer.hpp>
#include <troupe/net/server/internal/web_problem.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "net/gzip.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;

namespace {

web_head head_of(std::string host, std::string origin = {}) {
  web_head head;
  head.host = std::move(host);
  head.hosts = 1;
  head.origins = origin.empty() ? 0 : 1;
  head.origin = std::move(origin);
  head.local_address = "127.0.0.1";
  return head;
}

unsigned refused(const access_guard& guard, const web_head& head) {
  auto problem = guard.refuse_origin(head);
  return problem ? problem->status : 0;
}

} // namespace

TEST_CASE("a target is decoded once, by segments and parameters") {
  auto t = parse_request_target("/v1/runs/s%2Fr1/steer?after=5&text=a+b%20c&flag");
  REQUIRE(t);
  CHECK(t->segments == std::vector<std::string>{"v1", "runs", "s/r1", "steer"});
  REQUIRE(t->parameter("text"));
  CHECK(*t->parameter("text") == "a b c");
  CHECK(t->parameter("flag"));
  CHECK(t->parameter("other") == nullptr);
  CHECK(t->file_path().empty());
  CHECK(parse_request_target("/")->segments.empty());
  CHECK(parse_request_target("/")->file_path() == "/");
  CHECK(parse_request_target("/?x=1")->segments.empty());
  CHECK(parse_request_target("/assets/app.js")->file_path() == "/assets/app.js");
  CHECK(parse_request_target("/a/")->segments == std::vector<std::string>{"a", ""});
  CHECK(parse_request_target("/%C3%A4")->segments.front() == "ä");
}

TEST_CASE("a target that could mean two things is refused") {
  for (std::string_view text :
       {"",        "*",           "x",         "http://evil/", "/../etc/passwd",
        "/a/../b", "/a/./b",      "/%2e%2e/x", "/%2E./x",      "/..%2f..%2fetc%2fpasswd%00",
        "/a%00b",  "/a%0d%0aX:y", "/a\\b",     "/%5c..%5cx",   "/%252e%252e/x",
        "/%252f",  "/a//b",       "//evil/x",  "/%",           "/%zz",
        "/%ff",    "/a?x=1&x=2",  "/a?x=%00",  "/a b",         "/a#b"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_request_target(text).has_value());
  }
  CHECK_FALSE(parse_request_target("/" + std::string(9000, 'a')).has_value());
  std::string many;
  for (int i = 0; i < 40; ++i)
    many += "/a";
  CHECK_FALSE(parse_request_target(many).has_value());
}

TEST_CASE("routes are found by method and segments") {
  router routes{{{web_method::get, "/v1/runs"},
                 {web_method::post, "/v1/runs"},
                 {web_method::get, "/v1/runs/{id}"},
                 {web_method::post, "/v1/runs/{id}/steer"}}};
  auto find = [&](web_method m, std::string_view path) {
    return routes.find(m, *parse_request_target(path));
  };
  CHECK(find(web_method::post, "/v1/runs").route == 1);
  CHECK(find(web_method::head, "/v1/runs").route == 0);
  auto one = find(web_method::get, "/v1/runs/a%2Fb");
  CHECK(one.what == route_match::kind::found);
  CHECK(one.parameters == std::vector<std::string>{"a/b"});
  auto wrong = find(web_method::other, "/v1/runs");
  CHECK(wrong.what == route_match::kind::wrong_method);
  CHECK(wrong.allow == "GET, HEAD, POST");
  CHECK(find(web_method::get, "/v1/runs/x/steer").allow == "POST");
  CHECK(find(web_method::get, "/v1/runs/").what == route_match::kind::unknown);
  CHECK(find(web_method::get, "/v1").what == route_match::kind::unknown);
}

TEST_CASE("the guard knows the names of this server and its own origin") {
  access_guard guard{"", {"troupe.example", "192.0.2.7"}};
  CHECK(refused(guard, head_of("127.0.0.1:8787")) == 0);
  CHECK(refused(guard, head_of("LocalHost:1")) == 0);
  CHECK(refused(guard, head_of("Troupe.Example.")) == 0);
  CHECK(refused(guard, head_of("192.0.2.7")) == 0);
  CHECK(refused(guard, head_of("evil.example")) == 421);
  CHECK(refused(guard, head_of("127.0.0.1.evil.example")) == 421);
  CHECK(refused(guard, head_of("")) == 400);
  CHECK(refused(guard, head_of("a b")) == 400);
  CHECK(refused(guard, head_of("127.0.0.1:8787@evil")) == 400);
  CHECK(refused(guard, head_of("127.0.0.1:8787", "http://127.0.0.1:8787")) == 0);
  CHECK(refused(guard, head_of("127.0.0.1:8787", "http://127.0.0.1:8788")) == 403);
  CHECK(refused(guard, head_of("127.0.0.1:8787", "http://evil.example")) == 403);
  CHECK(refused(guard, head_of("127.0.0.1:8787", "null")) == 403);
  CHECK(refused(guard, head_of("127.0.0.1:8787", "file://127.0.0.1:8787")) == 403);
  auto far = head_of("localhost");
  far.local_address = "192.0.2.7";
  CHECK(refused(guard, far) == 421);
  auto six = head_of("[::1]:8787");
  six.local_address = "::1";
  CHECK(refused(guard, six) == 0);
  auto twice = head_of("127.0.0.1");
  twice.hosts = 2;
  CHECK(refused(guard, twice) == 400);
}

TEST_CASE("a token is compared whole, and is no part of a URL") {
  access_guard guard{"0123456789abcdef", {}};
  web_head head;
  auto bearer = [&](std::string text) {
    head.authorization = std::move(text);
    return guard.has_bearer(head);
  };
  CHECK(bearer("Bearer 0123456789abcdef"));
  CHECK(bearer("bearer  0123456789abcdef"));
  CHECK_FALSE(bearer("Bearer 0123456789abcde"));
  CHECK_FALSE(bearer("Bearer 0123456789abcdef0"));
  CHECK_FALSE(bearer("Bearer 0123456789abcdef0123456789abcdef"));
  CHECK_FALSE(bearer("Bearer "));
  CHECK_FALSE(bearer("Basic 0123456789abcdef"));
  CHECK_FALSE(bearer(""));
  CHECK(equal_secrets("", ""));
  CHECK_FALSE(equal_secrets("a", ""));
  CHECK_FALSE(equal_secrets("", "a"));
  for (std::string_view bad : {"/v1/runs?token=x", "/?Access_Token=x", "/?api_key=x"})
    CHECK(access_guard::refuse_query(*parse_request_target(bad))->status == 400);
  CHECK_FALSE(access_guard::refuse_query(*parse_request_target("/?after=1")));
}

TEST_CASE("a client has its burst, then its rate, and many clients do not grow the table") {
  rate_limiter limiter{{2, 3, 4}};
  rate_limiter::time_point now{};
  for (int i = 0; i < 3; ++i)
    CHECK(limiter.take("a", now) == 0ms);
  CHECK(limiter.take("a", now) > 400ms);
  CHECK(limiter.take("b", now) == 0ms);
  CHECK(limiter.take("a", now + 500ms) == 0ms);
  CHECK(limiter.take("a", now + 500ms) > 0ms);
  for (int i = 0; i < 100; ++i)
    static_cast<void>(limiter.take("x" + std::to_string(i), now + 500ms));
  CHECK(limiter.clients() == 4);
  CHECK(limiter.take("new", now + 500ms) > 0ms); // the shared bucket is empty
  CHECK(limiter.take("new", now + 60s) == 0ms);
  CHECK(limiter.clients() <= 4);
  CHECK(client_key("192.0.2.7") == "192.0.2.7");
  CHECK(client_key("2001:db8::1") == client_key("2001:db8::2"));
  CHECK(client_key("2001:db8:0:1::1") != client_key("2001:db8::2"));
}

TEST_CASE("a cookie stands for the token until it is taken back or old") {
  CHECK(cookie_value("a=1; troupe_session=xyz; b=2", login_cookie) == "xyz");
  CHECK(cookie_value("xtroupe_session=xyz", login_cookie).empty());
  CHECK(cookie_value("", login_cookie).empty());
  login_table logins;
  login_table::time_point now{};
  auto value = logins.add(now);
  CHECK(value.size() == 64);
  CHECK(logins.holds(value, now));
  CHECK_FALSE(logins.holds("", now));
  CHECK_FALSE(logins.holds(value.substr(1), now));
  CHECK_FALSE(logins.holds(value, now + login_table::lifetime));
  logins.remove(value);
  CHECK_FALSE(logins.holds(value, now));
  auto first = logins.add(now);
  for (std::size_t i = 0; i < login_table::max; ++i)
    static_cast<void>(logins.add(now));
  CHECK_FALSE(logins.holds(first, now));
  auto header = login_cookie_header(value);
  CHECK(header.find("HttpOnly; SameSite=Strict") != std::string::npos);
  CHECK(login_cookie_header("").find("Max-Age=0") != std::string::npos);
}

TEST_CASE("a file goes out compressed, inflated or not at all") {
  const auto packed = test::gzip("hello page");
  static_file file{"/index.html", "text/html", "abc", std::as_bytes(std::span{packed.data(), packed.size()}),
                   false};
  web_head head;
  CHECK(static_answer(file, head).body == "hello page");
  head.accept_encoding = "br, gzip;q=0.5";
  auto answer = static_answer(file, head);
  CHECK(answer.body == packed);
  CHECK(answer_head(answer, {}).find("Content-Encoding: gzip\r\n") != std::string::npos);
  head.if_none_match = "\"x\", W/\"abc\"";
  CHECK(static_answer(file, head).status == 304);
  CHECK(accepts_gzip("*"));
  CHECK_FALSE(accepts_gzip("gzip;q=0, *"));
  CHECK_FALSE(accepts_gzip("identity"));
  CHECK_FALSE(etag_matches("\"ab\"", "abc"));
  file.gzip_bytes = file.gzip_bytes.first(10);
  CHECK(static_answer(file, {}).status == 500);
}

TEST_CASE("each answer has the headers that keep a browser careful, and no value leaves its line") {
  web_answer answer;
  answer.headers = {{"X-Good", "1"}, {"X-Bad", "a\r\nSet-Cookie: x=y"}};
  auto head = answer_head(answer, {false, false});
  CHECK(head.starts_with("HTTP/1.1 200 OK\r\nX-Content-Type-Options: nosniff\r\n"));
  for (auto line :
       {"Referrer-Policy: no-referrer\r\n", "frame-ancestors 'none'", "Cache-Control: no-store\r\n",
        "Connection: close\r\n", "Content-Length: 0\r\n", "X-Good: 1\r\n"})
    CHECK(head.find(line) != std::string::npos);
  CHECK(head.find("X-Bad") == std::string::npos);
  CHECK(head.find("Set-Cookie") == std::string::npos);
  answer.immutable = true;
  CHECK(answer_head(answer, {}).find("max-age=31536000, immutable") != std::string::npos);
  CHECK(stream_head({}).find("Transfer-Encoding: chunked") != std::string::npos);
  CHECK(stream_head({false, true}).find("chunked") == std::string::npos);
}

TEST_CASE("each error has its status, and its message no secrets") {
  CHECK(http_status(errc::bad_json) == 400);
  CHECK(http_status(errc::not_found) == 404);
  CHECK(http_status(errc::busy) == 409);
  CHECK(http_status(errc::too_large) == 413);
  CHECK(http_status(errc::shutting_down) == 503);
  CHECK(http_status(errc::internal) == 500);
  for (unsigned status : {200U, 201U, 202U, 304U, 400U, 401U, 403U, 404U, 405U, 408U, 409U, 413U, 415U, 421U,
                          429U, 431U, 500U, 503U})
    CHECK(reason_phrase(status) != "Unknown");
  auto body = nlohmann::json::parse(to_answer(error{errc::not_found, "no <b> api_key=abcdefgh12345"}).body);
  CHECK(body["error"]["code"] == "not_found");
  CHECK(body["error"]["message"].get<std::string>().find("abcdefgh") == std::string::npos);
}

TEST_CASE("addresses to listen on") {
  CHECK(parse_listen_address("127.0.0.1:8787")->port == 8787);
  CHECK(parse_listen_address("[::1]:0")->host == "::1");
  for (auto bad : {"", ":80", "80", "a:b", "a:", "a:70000", "::1:80", "a:-1"})
    CHECK_FALSE(parse_listen_address(bad).has_value());
  CHECK(is_loopback_address("127.3.2.1"));
  CHECK(is_loopback_address("::1"));
  CHECK(is_loopback_address("::ffff:127.0.0.1"));
  CHECK_FALSE(is_loopback_address("0.0.0.0"));
  CHECK_FALSE(is_loopback_address("localhost"));
}
