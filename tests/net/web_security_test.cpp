// What strangers send: wrong names and origins, tokens, paths, sizes, framing, slowness, frames, escapes.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <optional>
#include <thread>

#include "support/web_fixture.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr const char* token = "a-token-of-enough-characters";

http_server_options guarded() {
  http_server_options o;
  o.token = token;
  return o;
}

} // namespace

TEST_CASE("a page of another origin and a name that is not ours are refused, also for WebSockets") {
  web_fixture f;
  const std::string evil = "Origin: http://evil.example\r\n";
  CHECK(f.get("/v1/runs", evil).status == 403);
  CHECK(
      f.post("/v1/runs", {{"prompt", "x"}}, evil + "Content-Type: application/json\r\nContent-Length: 14\r\n")
          .status == 403);
  CHECK(web_socket_client(f, {}, evil).answer.status == 403);
  CHECK(web_socket_client(f, {}, "Origin: null\r\n").answer.status == 403);
  const auto own = "Origin: http://127.0.0.1:" + std::to_string(f.port) + "\r\n";
  CHECK(f.get("/v1/runs", own).status == 200);
  CHECK(web_socket_client(f, {}, own).answer.status == 101);
  for (std::string host : {"evil.example", "127.0.0.1.evil.example", "evil.example:80"})
    CHECK(f.ask_raw("GET /v1/runs HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status == 421);
  CHECK(f.ask_raw("GET /v1/runs HTTP/1.1\r\n\r\n").status == 400);
  CHECK(f.ask_raw("GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n").status == 400);
  CHECK(f.ask_raw("GET /v1/runs HTTP/1.1\r\nHost: localhost:" + std::to_string(f.port) + "\r\n\r\n").status ==
        200);
  CHECK(f.engine.runs() == 0);
}

TEST_CASE("without the token there is nothing but health, the page and the login") {
  web_fixture f{guarded()};
  for (auto path :
       {"/v1/runs", "/openapi.json", "/v1/agents", "/v1/snapshot", "/metrics", "/v1/sessions/x/events"}) {
    auto r = f.get(path);
    CHECK(r.status == 401);
    CHECK(r.has("WWW-Authenticate: Bearer\r\n"));
    CHECK(f.get(path, "Authorization: Bearer wrong-token-wrong\r\n").status == 401);
    CHECK(f.get(path, "Cookie: troupe_session=wrong\r\n").status == 401);
  }
  CHECK(web_socket_client(f).answer.status == 401);
  CHECK(f.post("/v1/runs", {{"prompt", "x"}}).status == 401);
  for (auto path : {"/healthz", "/readyz"})
    CHECK(f.get(path).status == 200);
  const auto bearer = std::string{"Authorization: Bearer "} + token + "\r\n";
  CHECK(f.get("/v1/runs", bearer).status == 200);
  CHECK(web_socket_client(f, {}, bearer).answer.status == 101);
  CHECK(f.get(std::string{"/v1/runs?token="} + token).status == 400);
  CHECK(f.get("/v1/runs", bearer + bearer).status == 400);
}

TEST_CASE("a browser gets a cookie for the token, and gives it back") {
  web_fixture f{guarded()};
  CHECK(f.post("/v1/login", {{"token", "wrong"}}).status == 401);
  auto in = f.post("/v1/login", {{"token", token}});
  CHECK(in.status == 200);
  CHECK(in.has("HttpOnly; SameSite=Strict"));
  const auto at = in.head.find("troupe_session=");
  REQUIRE(at != std::string::npos);
  const auto cookie = "Cookie: " + in.head.substr(at, in.head.find(';', at) - at) + "\r\n";
  CHECK(f.get("/v1/runs", cookie).status == 200);
  CHECK(web_socket_client(f, {}, cookie).answer.status == 101);
  CHECK(f.ask_raw(f.request("POST", "/v1/logout", {}, cookie + "Content-Length: 0\r\n")).status == 200);
  CHECK(f.get("/v1/runs", cookie).status == 401);
}

TEST_CASE("an address that others can reach needs a token, and a token needs a length") {
  fake_engine engine;
  auto refused = [&](http_server_options o) {
    http_server server{engine, std::move(o)};
    return server.start();
  };
  CHECK(refused({.listen = "0.0.0.0:0"}).failure().code == errc::bad_config);
  CHECK(refused({.listen = "[::]:0"}).failure().code == errc::bad_config);
  CHECK(refused({.listen = "127.0.0.1:0", .token = "short"}).failure().code == errc::bad_config);
  CHECK(refused({.listen = "nonsense"}).failure().code == errc::bad_config);
  CHECK(refused({.listen = "192.0.2.1:0", .token = token}).failure().code == errc::bad_config);
  CHECK(refused({.listen = "0.0.0.0:0", .token = token}).has_value());
  web_fixture f;
  CHECK(refused({.listen = "127.0.0.1:" + std::to_string(f.port)}).failure().code == errc::bad_config);
}

TEST_CASE("paths lead nowhere but to routes") {
  web_fixture f;
  for (auto target : {"/../etc/passwd", "/%2e%2e/etc/passwd", "/%252e%252e/x", "/..%5c..%5cx", "/v1/%00",
                      "//evil/", "/v1/runs?x=1&x=2", "http://evil/", "/%c0%ae%c0%ae/"}) {
    CAPTURE(target);
    CHECK(f.get(target).status == 400);
  }
  CHECK(f.get("/nothing").status == 404);
  CHECK(f.get("/v1/runs/").status == 404);
  auto wrong = f.ask_raw(f.request("DELETE", "/v1/runs"));
  CHECK(wrong.status == 405);
  CHECK(wrong.has("Allow: POST, GET, HEAD\r\n"));
  CHECK(f.ask_raw(f.request("OPTIONS", "/v1/runs")).status == 405);
}

TEST_CASE("sizes have bounds") {
  http_server_options o;
  o.limits.max_header_bytes = 1024;
  o.limits.max_body_bytes = 1000;
  web_fixture f{std::move(o)};
  CHECK(f.get("/healthz", "X-Long: " + std::string(2000, 'x') + "\r\n").status == 431);
  std::string many;
  for (int i = 0; i < 200; ++i)
    many += "X-" + std::to_string(i) + ": y\r\n";
  CHECK(f.get("/healthz", many).status == 431);
  CHECK(f.post("/v1/runs", {{"prompt", std::string(2000, 'x')}}).status == 413);
  auto chunked = f.connect();
  chunked.send(
      f.request("POST", "/v1/runs", {}, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"));
  const std::string chunk = "190\r\n" + std::string(400, ' ') + "\r\n";
  for (int i = 0; i < 10; ++i)
    chunked.send(chunk);
  CHECK(parse_reply(chunked.read_answer()).status == 413);
  // Headers that never end.
  auto endless = f.connect();
  endless.send("GET /healthz HTTP/1.1\r\n" + f.host());
  for (int i = 0; i < 1000 && endless.send("X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n"); ++i) {
  }
  CHECK(endless.read_all().find("431") != std::string::npos);
  CHECK(f.ask_raw(f.request("GET", "/healthz", "x", "Content-Length: 1\r\n")).status == 413);
  CHECK(f.get("/healthz").status == 200);
}

TEST_CASE("a request that two readers could read in two ways is refused") {
  web_fixture f;
  const std::string json_type = "Content-Type: application/json\r\n";
  auto sent = [&](const std::string& lines, const std::string& body) {
    return f.ask_raw("POST /v1/runs HTTP/1.1\r\n" + f.host() + json_type + lines + "\r\n" + body).status;
  };
  CHECK(sent("Content-Length: 2\r\nContent-Length: 3\r\n", "{}x") == 400);
  CHECK(sent("Content-Length: 2\r\nContent-Length: 2\r\n", "{}") == 400);
  CHECK(sent("Content-Length: 2, 2\r\n", "{}") == 400);
  CHECK(sent("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n") == 400);
  CHECK(sent("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", "0\r\n\r\n") == 400);
  CHECK(sent("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n") == 400);
  CHECK(sent("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n") == 400);
  CHECK(sent("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n") == 400);
  CHECK(sent("Content-Length: -1\r\n", "") == 400);
  CHECK(sent("Content-Length: 99999999999999999999\r\n", "") == 400);
  CHECK(sent("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n") == 400);
  CHECK(sent("Content-Length : 2\r\n", "{}") == 400);
  for (std::string text : {"GET / HTTP/2.0\r\n", "GET /\r\n", "\x16\x03\x01\r\n\r\n",
                           "GET / HTTP/1.1\r\n X: y\r\n", "G\x01T / HTTP/1.1\r\n", "GET /a b HTTP/1.1\r\n"})
    CHECK(f.ask_raw(text + f.host() + "\r\n").status == 400);
  CHECK(f.engine.runs() == 0);
}

TEST_CASE("a body must be JSON of a kind that can be read") {
  web_fixture f;
  const auto with = [&](const std::string& type, const std::string& body) {
    return f.ask_raw(
        f.request("POST", "/v1/runs", body,
                  "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"));
  };
  const std::string good = R"({"prompt":"x"})";
  CHECK(with("text/plain", good).status == 415);
  CHECK(with("application/x-www-form-urlencoded", good).status == 415);
  CHECK(with("application/jsonp", good).status == 415);
  CHECK(with("Application/JSON; charset=utf-8", good).status == 201);
  CHECK(with("application/json", "{\"prompt\":").status == 400);
  CHECK(with("application/json", "[1]").status == 400);
  CHECK(with("application/json", "\xff\xfe").status == 400);
  const auto deep = with("application/json", std::string(100'000, '['));
  CHECK((deep.status == 400 || deep.status == 413));
  CHECK(with("application/json", R"({"prompt":)" + std::string(100'000, '[')).json()["error"].is_object());
  CHECK(f.ask_raw(f.request("POST", "/v1/runs", good, "Content-Length: 14\r\n")).status == 415);
  CHECK(f.engine.runs() == 1);
}

TEST_CASE("requests that are sent ahead are answered in their order") {
  web_fixture f;
  auto client = f.connect();
  client.send(f.request("GET", "/healthz") + f.request("POST", "/v1/runs", R"({"prompt":"one"})") +
              f.request("GET", "/v1/agents") + f.request("HEAD", "/healthz") +
              f.request("GET", "/readyz", {}, "Connection: close\r\n"));
  CHECK(parse_reply(client.read_answer()).body == "ok");
  CHECK(parse_reply(client.read_answer()).status == 201);
  CHECK(parse_reply(client.read_answer()).json().contains("agents"));
  auto head = parse_reply(client.read_until("\r\n\r\n"));
  CHECK(head.has("Content-Length: 2\r\n"));
  auto last = parse_reply(client.read_all());
  CHECK(last.status == 200);
  CHECK(last.has("Connection: close\r\n"));
  CHECK(last.body == "ok");
}

TEST_CASE("100-continue is said before a body, and not to who may not send one") {
  web_fixture f{guarded()};
  const std::string body = R"({"token":"wrong"})";
  const std::string lines = "Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n";
  auto client = f.connect();
  client.send(f.request("POST", "/v1/login", {}, lines));
  CHECK(client.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(body);
  CHECK(parse_reply(client.read_answer()).status == 401);
  auto other = f.connect();
  other.send(f.request("POST", "/v1/runs", {}, lines));
  CHECK(parse_reply(other.read_answer()).status == 401);
}

TEST_CASE("who asks too often is told to wait") {
  http_server_options o;
  o.limits.requests_per_second = 0.1;
  o.limits.burst = 3;
  web_fixture f{std::move(o)};
  for (int i = 0; i < 3; ++i)
    CHECK(f.get("/healthz").status == 200);
  auto r = f.get("/healthz");
  CHECK(r.status == 429);
  CHECK(r.has("Retry-After: "));
}

TEST_CASE("a thousand clients that send slowly are closed, and others are served meanwhile") {
  http_server_options o;
  o.limits.header_time = 300ms;
  o.limits.max_connections = 1100;
  web_fixture f{std::move(o)};
  std::vector<raw_client> slow;
  for (int i = 0; i < 1000; ++i) {
    slow.push_back(f.connect());
    slow.back().send("GET /healthz HT");
  }
  CHECK(f.get("/healthz").status == 200);
  int told = 0;
  for (auto& client : slow)
    told += client.read_all().find(" 408 ") != std::string::npos ? 1 : 0;
  CHECK(told == 1000);
  CHECK(f.get("/healthz").status == 200);
}

TEST_CASE("a body that does not come in time, an idle connection, and connections beyond the bound end") {
  http_server_options o;
  o.limits.body_time = 50ms;
  o.limits.idle_time = 50ms;
  o.limits.max_connections = 3;
  web_fixture f{std::move(o)};
  auto slow = f.connect();
  slow.send(f.request("POST", "/v1/runs", "{", "Content-Type: application/json\r\nContent-Length: 100\r\n"));
  CHECK(parse_reply(slow.read_answer()).status == 408);
  CHECK(slow.is_closed());
  auto idle = f.connect();
  idle.send(f.request("GET", "/healthz"));
  CHECK(parse_reply(idle.read_answer()).status == 200);
  CHECK(idle.is_closed());
  std::vector<raw_client> many;
  for (int i = 0; i < 10; ++i)
    many.push_back(f.connect());
  for (auto& client : many)
    CHECK(client.is_closed());
}

TEST_CASE("frames that break the protocol close the WebSocket with their code") {
  web_fixture f;
  auto code_after = [&](const std::string& bytes) {
    web_socket_client ws{f};
    REQUIRE(ws.answer.status == 101);
    ws.send_raw(bytes);
    return ws.close_code();
  };
  CHECK(code_after(client_frame("{}", 1, false)) == 1002);                // without a mask
  CHECK(code_after(client_frame("{\"type\":\"\xff\xfe\"}")) == 1007);     // not UTF-8
  CHECK(code_after(client_frame("\xc3", 1)) == 1007);                     // a character that is cut
  CHECK(code_after(client_frame("x", 3)) == 1002);                        // a reserved opcode
  CHECK(code_after(std::string("\xc1\x80\0\0\0\0", 6)) == 1002);          // a compressed frame
  const std::string claims("\x81\xff\0\0\0\0\x05\xf5\xe1\0\0\0\0\0", 14); // 100 MB
  CHECK(code_after(claims) == 1009);
  CHECK(code_after(client_frame("", 8)) == 1000);
}

TEST_CASE("a client that leaves in the middle of a frame leaves nothing behind") {
  web_fixture f;
  for (int i = 0; i < 20; ++i) {
    web_socket_client ws{f};
    static_cast<void>(ws.next("snapshot"));
    ws.send_raw(client_frame(std::string(300, 'x')).substr(0, 50));
  }
  // The server ends in time: nobody is waited for.
  f.server->stop(20s);
  CHECK(f.server->counts().connections == 0);
  CHECK(f.server->counts().streams == 0);
}

TEST_CASE("a client that never reads its stream costs no questions and no memory while agents work") {
  http_server_options o;
  o.limits.stream_interval = 1ms;
  o.limits.requests_per_second = o.limits.burst = 1e6;
  web_fixture f{std::move(o)};
  auto deaf = f.connect(4096);
  deaf.send(f.request("GET", "/v1/events?events=true", {}, upgrade_lines()));
  static_cast<void>(deaf.read_until("\r\n\r\n"));
  auto pace = f.connect();
  const std::string long_text(1000, 'y');
  // Agents work, and a request paces the server's thread, until the stream asks for nothing any more: its socket is full.
  std::size_t asked = 0;
  auto work = [&](int i) {
    f.engine.begin("s" + std::to_string(i % 50), long_text);
    pace.send(f.request("GET", "/healthz"));
    REQUIRE(parse_reply(pace.read_answer()).status == 200);
  };
  int quiet = 0;
  for (int i = 0; i < 100'000 && quiet < 2000; ++i) {
    work(i);
    quiet = f.engine.questions() == asked ? quiet + 1 : 0;
    asked = f.engine.questions();
  }
  CHECK(quiet == 2000);
  const auto taken = f.server->counts().messages;
  for (int i = 0; i < 2000; ++i)
    work(i);
  CHECK(f.engine.questions() == asked);
  CHECK(f.server->counts().messages == taken);
  CHECK(f.server->counts().streams == 1);
}

TEST_CASE("a client that says too much on its WebSocket is sent away") {
  web_fixture f;
  web_socket_client ws{f};
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += client_frame(R"({"type":"follow"})");
  ws.send_raw(many);
  CHECK(ws.close_code() == 1008);
}

TEST_CASE("what models, tools and names say stays text in JSON") {
  web_fixture f;
  const std::string nasty = "</script><img src=x onerror=alert(1)>\x1b]0;owned\x07\x1b[2J\xe2\x80\xae";
  f.engine.begin("s1", nasty);
  f.engine.publish("s1", {model_text_body{0, nasty, {}},
                          tool_result_body{call_id{"c0-0-0"}, nasty, nasty, false, std::nullopt}});
  for (auto target : {"/v1/snapshot?session=s1&agent=0", "/v1/sessions/s1/events", "/v1/sessions/s1"}) {
    auto r = f.get(target);
    CHECK(r.status == 200);
    CHECK(r.json().is_object());
    CHECK(r.has("Content-Type: application/json\r\n"));
    CHECK(r.has("X-Content-Type-Options: nosniff\r\n"));
    for (const char c : r.body)
      CHECK(static_cast<unsigned char>(c) >= 0x20);
  }
  auto missing = f.get("/v1/runs/%3Cimg%20src=x%3E");
  CHECK(missing.status == 404);
  CHECK(missing.json()["error"]["message"].get<std::string>().find("<img src=x>") != std::string::npos);
}
