// Streams: what follows what, over WebSockets and server-sent events.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/event_stream.hpp>
#include <troupe/net/server/internal/partial_buffer.hpp>
#include <troupe/net/server/internal/stream_follow.hpp>

#include <doctest/doctest.h>

#include <optional>

#include "support/web_fixture.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

result<stream_follow> of_query(const std::string& query) {
  return follow_of_query(*parse_request_target("/v1/events?" + query), {});
}

partial piece_of(std::string text, std::uint64_t offset, std::string message = "m") {
  return {agent_id{"s/1"}, std::move(message), false, offset, std::move(text)};
}

std::string joined(const std::vector<shown_piece>& pieces) {
  std::string all;
  for (const auto& p : pieces)
    all += p.text;
  return all;
}

http_server_options quick() {
  http_server_options o;
  o.limits.stream_interval = 2ms;
  o.limits.vitals_interval = 2ms;
  return o;
}

} // namespace

TEST_CASE("what is followed is read from a query and from a message alike") {
  auto f = of_query("session=s&agent=3&events=true&kinds=tool_call,error&partials=1&after=x:5&after_seq=7");
  REQUIRE(f);
  CHECK(f->session == session_id{"s"});
  CHECK(f->agent == 3);
  CHECK(f->events);
  CHECK(f->kinds.count() == 2);
  CHECK(f->partials);
  CHECK(f->cursor == "x:5");
  CHECK(f->after_seq == 7);
  auto m = follow_of_message(
      R"({"type":"follow","session":"s","agent":3,"events":true,"kinds":["tool_call","error"]})");
  REQUIRE(m);
  CHECK(m->agent == 3);
  CHECK(m->kinds == f->kinds);
  CHECK(follow_of_message(R"({"type":"follow","session":null})"));
  for (auto bad :
       {"agent=1", "partials=true", "events=maybe", "kinds=dance", "session=a%20b", "agent=x&session=s",
        "agent=99999999999&session=s", "after_seq=1&session=s", "colour=red", "session="})
    CHECK_FALSE_MESSAGE(of_query(bad).has_value(), bad);
  for (auto bad :
       {"", "x", "[]", "5", "{}", R"({"type":"shout"})", R"({"type":"follow","agent":-1,"session":"s"})",
        R"({"type":"follow","events":"yes"})", R"({"type":"follow","kinds":[1]})",
        R"({"type":"follow","x":{}})", "{\"type\":\"follow\"", "\xff"})
    CHECK_FALSE_MESSAGE(follow_of_message(bad).has_value(), bad);
}

TEST_CASE("pieces are joined, masked across their edges, and a gap shows in the offset") {
  partial_buffer b{1000};
  b.push(piece_of("hello ", 0));
  b.push(piece_of("world, the key is api_ke", 6));
  auto first = b.take();
  REQUIRE(first.size() == 1);
  CHECK(first[0].offset == 0);
  CHECK(first[0].agent == 1);
  b.push(piece_of("y=sk-verysecretvalue123 ", 30));
  b.push(piece_of("and more text", 54));
  auto second = b.take();
  REQUIRE(second.size() == 1);
  CHECK(second[0].offset == first[0].text.size());
  const auto all = joined(first) + joined(second);
  CHECK(all.starts_with("hello world, the key is "));
  CHECK(all.find("verysecret") == std::string::npos);
  CHECK(b.take().empty());
  // Something was lost on the way.
  b.push(piece_of("after the gap ", 500));
  auto third = b.take();
  REQUIRE(third.size() == 1);
  CHECK(third[0].offset > all.size());
}

TEST_CASE("pieces beyond the bound are lost, and memory stays bounded") {
  partial_buffer b{100};
  std::uint64_t at = 0;
  for (int i = 0; i < 1000; ++i, at += 10)
    b.push(piece_of("0123456789", at));
  CHECK(b.bytes() <= 100);
  CHECK(b.lost() == 990);
  static_cast<void>(b.take());
  for (int i = 0; i < 5000; ++i) {
    b.push(piece_of("x ", 0, "m" + std::to_string(i)));
    static_cast<void>(b.take());
  }
  CHECK(b.bytes() == 0);
}

TEST_CASE("who comes in the middle of a word sees nothing of it: it may be the rest of a secret") {
  partial_buffer b{1000};
  b.push(piece_of("verysecretvalue123", 50));
  CHECK(b.take().empty());
  b.push(piece_of("456 and then more words", 68));
  auto pieces = b.take();
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].offset == 71);
  CHECK(pieces[0].text.starts_with(" and then"));
}

TEST_CASE("a character that is cut into two pieces stays whole") {
  partial_buffer b{1000};
  b.push(piece_of("a \xc3", 0));
  auto text = joined(b.take());
  b.push(piece_of("\xa4 b c d", 3));
  text += joined(b.take());
  CHECK(text.starts_with("a \xc3\xa4 b"));
}

TEST_CASE("a stream begins with a snapshot and goes on with what has changed") {
  web_fixture f{quick()};
  f.engine.begin("s1");
  web_socket_client ws{f};
  CHECK(ws.answer.status == 101);
  auto first = ws.next("snapshot");
  REQUIRE(first.is_object());
  CHECK(first["sessions"][0]["session"] == "s1");
  CHECK_FALSE(first.contains("agents"));
  f.engine.begin("s2");
  auto second = ws.next("delta");
  REQUIRE(second.is_object());
  CHECK(second["sessions"].size() == 1);
  CHECK(second["sessions"][0]["session"] == "s2");
  CHECK(second["cursor"] != first["cursor"]);
  CHECK(ws.next("vitals").contains("totals"));
}

TEST_CASE("a cursor goes on from where a stream was; one of another process does not") {
  web_fixture f{quick()};
  f.engine.begin("s1");
  std::string cursor;
  {
    web_socket_client ws{f};
    cursor = ws.next("snapshot")["cursor"].get<std::string>();
  }
  f.engine.begin("s2");
  web_socket_client again{f, "?after=" + cursor};
  auto delta = again.next("delta");
  REQUIRE(delta.is_object());
  CHECK(delta["sessions"].size() == 1);
  web_socket_client other{f, "?after=zzz:1"};
  CHECK(other.next("snapshot")["sessions"].size() == 2);
}

TEST_CASE("a message changes what is followed; one that cannot be understood is answered with an error") {
  web_fixture f{quick()};
  f.engine.begin("s1");
  web_socket_client ws{f};
  static_cast<void>(ws.next("snapshot"));
  ws.send({{"type", "follow"}, {"session", "s1"}, {"agent", 0}, {"events", true}, {"after_seq", 0}});
  auto snapshot = ws.next("snapshot");
  REQUIRE(snapshot.is_object());
  CHECK(snapshot["agents"][0]["number"] == 0);
  auto events = ws.next("events");
  REQUIRE(events.is_object());
  CHECK(events["events"][0]["seq"] == 1);
  CHECK(events["missed"] == 0);
  ws.send({{"type", "dance"}});
  CHECK(ws.next("error")["code"] == "bad_arguments");
  ws.send_raw(client_frame("{\"type\":"));
  CHECK(ws.next("error")["code"] == "bad_json");
  f.engine.publish("s1", texts(1, "go on"));
  CHECK(ws.next("events")["events"][0]["body"]["text"] == "go on 0");
}

TEST_CASE("stored events of one session come whole and in order, of all sessions from now on") {
  web_fixture f{quick()};
  f.engine.begin("s1");
  web_socket_client one{f, "?session=s1&events=true&after_seq=0&kinds=model_text"};
  web_socket_client all{f, "?events=true"};
  static_cast<void>(one.next("snapshot"));
  static_cast<void>(all.next("snapshot"));
  static_cast<void>(all.next("vitals")); // the round that asked where the ring stands is over
  for (int i = 0; i < 20; ++i)
    f.engine.publish("s1", texts(50));
  std::uint64_t seq = 2;
  while (seq < 1002) {
    auto message = one.next("events");
    REQUIRE(message.is_object());
    CHECK(message["missed"] == 0);
    for (const auto& e : message["events"]) {
      REQUIRE(e["seq"] == ++seq);
    }
  }
  std::size_t count = 0;
  while (count < 1000) {
    auto message = all.next("events");
    REQUIRE(message.is_object());
    count += message["events"].size() + message["missed"].get<std::size_t>();
    if (!message["events"].empty())
      CHECK(message["events"][0]["session_id"] == "s1");
  }
}

TEST_CASE("a cursor goes on with events as well, and the header wins over the address") {
  web_fixture f{quick()};
  f.engine.begin("s1");
  std::string cursor;
  {
    web_socket_client ws{f, "?session=s1&events=true&after_seq=0"};
    CHECK(ws.next("events")["events"].size() == 2);
    f.engine.publish("s1", texts(1));
    cursor = ws.next("delta")["cursor"].get<std::string>();
    CHECK(cursor.ends_with("~2"));
  }
  f.engine.publish("s1", texts(1)); // while nobody looks
  web_socket_client again{f, "?session=s1&events=true&after_seq=0", "Last-Event-ID: " + cursor + "\r\n"};
  const auto events = again.next("events");
  REQUIRE(events["events"].size() == 2);
  CHECK(events["events"][0]["seq"] == 3);
  CHECK(events["events"][1]["seq"] == 4);
  // A log that is shorter than the cursor says is another one.
  web_socket_client other{f, "?session=s1&events=true&after=zzz:1.1~900"};
  CHECK(other.next("events")["events"][0]["seq"] == 1);
}

TEST_CASE("streamed pieces reach who follows them") {
  web_fixture f{quick()};
  f.engine.begin("s1");
  web_socket_client ws{f, "?session=s1&partials=true"};
  REQUIRE(f.engine.wait_watched());
  f.engine.piece("s1", "m1", 0, "one two three four ");
  auto message = ws.next("partials");
  REQUIRE(message.is_object());
  CHECK(message["pieces"][0]["message"] == "m1");
  CHECK(message["pieces"][0]["offset"] == 0);
  CHECK(message["pieces"][0]["text"].get<std::string>().starts_with("one two"));
}

TEST_CASE("server-sent events carry the same messages, with the cursor as their id") {
  web_fixture f{quick()};
  f.engine.begin("s1");
  auto client = f.connect();
  client.send(f.request("GET", "/v1/events", {}, "Accept: text/event-stream\r\n"));
  auto head = parse_reply(client.read_until("\r\n\r\n"));
  CHECK(head.status == 200);
  CHECK(head.has("Content-Type: text/event-stream"));
  CHECK(head.has("Cache-Control: no-store"));
  auto event = client.read_until("\n\n");
  const auto id = event.find("id: ");
  REQUIRE(id != std::string::npos);
  const auto data = event.find("data: ");
  auto message = json::parse(event.substr(data + 6, event.size() - data - 8));
  CHECK(message["type"] == "snapshot");
  CHECK(event.find("id: " + message["cursor"].get<std::string>() + "\n") != std::string::npos);
  auto again = f.connect();
  f.engine.begin("s2");
  again.send(f.request("GET", "/v1/events", {},
                       "Accept: text/event-stream\r\nLast-Event-ID: " + message["cursor"].get<std::string>() +
                           "\r\n"));
  static_cast<void>(again.read_until("\r\n\r\n"));
  CHECK(again.read_until("\n\n").find("\"delta\"") != std::string::npos);
}

TEST_CASE("a quiet event stream has heartbeats, and a stream that nobody reads ends") {
  http_server_options o;
  o.limits.heartbeat = 5ms;
  o.limits.vitals_interval = 1h;
  web_fixture f{std::move(o)};
  auto client = f.connect();
  client.send(f.request("GET", "/v1/events", {}, "Accept: text/event-stream\r\n"));
  static_cast<void>(client.read_until("\r\n\r\n"));
  CHECK(client.read_until(":\n\n").ends_with(":\n\n"));
}

TEST_CASE("a request for a stream that is none, or that is wrong, is refused before it begins") {
  web_fixture f;
  CHECK(f.get("/v1/events").status == 400);
  CHECK(f.get("/v1/events?agent=1", "Accept: text/event-stream\r\n").status == 400);
  CHECK(web_socket_client(f, "?kinds=dance").answer.status == 400);
  http_server_options o;
  o.limits.max_streams = 1;
  web_fixture one{std::move(o)};
  web_socket_client first{one};
  CHECK(first.answer.status == 101);
  CHECK(web_socket_client(one).answer.status == 503);
}

TEST_CASE("streams are told goodbye when the server ends, and the runs of others go on") {
  web_fixture f{quick()};
  std::optional<web_socket_client> ws{std::in_place, f};
  static_cast<void>(ws->next("snapshot"));
  auto sse = f.connect();
  sse.send(f.request("GET", "/v1/events", {}, "Accept: text/event-stream\r\n"));
  static_cast<void>(sse.read_until("\n\n"));
  std::thread stopper{[&] { f.server->stop(20s); }};
  CHECK(ws->close_code() == 1001);
  ws->send_raw(client_frame("", 8));
  ws.reset(); // a client that has agreed closes its side as well; the server waits for that
  CHECK(sse.read_all().ends_with("0\r\n\r\n"));
  stopper.join();
  CHECK(f.server->counts().connections == 0);
}
