// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/event.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <sstream>

using namespace troupe;
using nlohmann::json;

namespace {

event make(event_body body, std::uint64_t seq) {
  auto origin = std::make_shared<event_origin>();
  origin->session = session_id{"s1"};
  origin->run = make_run_id(origin->session, 2);
  origin->agent = make_agent_id(origin->session, 3);
  origin->number = 3;
  origin->author = "checker";
  origin->branch = "analyst.checker@c0-1-2";
  origin->parent_call = call_id{"c0-1-2"};
  event e;
  e.seq = seq;
  e.index = static_cast<std::uint32_t>(seq);
  e.time = timestamp{std::chrono::microseconds{1'700'000'000'123'456}};
  e.origin = std::move(origin);
  e.body = std::move(body);
  return e;
}

// One event of each kind, with all that it can hold.
std::vector<event> all_kinds() {
  const call_id call{"c3-0-1"};
  auto message = std::make_shared<content>(make_text(role::user, "look \"here\"\n"));
  message->parts.push_back({data_part{"image/png", "AAAA", {}}, {}});
  std::vector<event_body> bodies = {
      user_message_body{message},
      model_text_body{0, "text ü", R"({"id":"x"})"},
      thought_body{0, "hm", {}},
      tool_call_body{0, call, "read_file", R"({"path":"a"})", R"({"id":"call_1"})"},
      tool_result_body{call, "read_file", "no", true, errc::not_found},
      agent_started_body{"checker", "prebuilt", "fast", 0, true},
      agent_ended_body{outcome::make_recovered(errc::timeout, "10 ms", "half", json{{"n", 1}}), 4},
      question_body{call, "May I?", {{"type", "boolean"}}, "policy"},
      answer_body{call, true, "user"},
      steering_body{"faster", "user"},
      background_result_body{call, "scout", outcome::make_cancelled("user", "some")},
      state_body{"todo", json::array({{{"text", "a"}}}), false},
      compaction_body{12, "short"},
      delivered_body{2, 1},
      warning_body{errc::max_turns, "30 turns", "last one", true},
      error_body{errc::model_auth, "401"},
      other_body{"from_the_future", {{"x", 1}}},
  };
  std::vector<event> events;
  for (auto& body : bodies)
    events.push_back(make(std::move(body), events.size() + 1));
  events.front().usage = {10, 2, 5, 1};
  return events;
}

} // namespace

TEST_CASE("every kind of event has the JSON form of the golden file, and comes back from it unchanged") {
  std::ifstream file{std::string{TROUPE_TEST_DATA} + "/golden/events.jsonl"};
  REQUIRE(file);
  auto events = all_kinds();
  CHECK(events.size() == std::variant_size_v<event_body>);
  std::size_t i = 0;
  for (std::string line; std::getline(file, line); ++i) {
    REQUIRE(i < events.size());
    CAPTURE(i);
    CHECK(json(events[i]).dump() == line);
    auto back = json::parse(line).get<event>();
    CHECK(json(back).dump() == line);
    CHECK(back.kind() == events[i].kind());
    CHECK(back.origin->number == 3);
  }
  CHECK(i == events.size());
}

TEST_CASE("the text of an event that is written straight says what its tree says") {
  for (auto& e : all_kinds()) {
    CAPTURE(e.id());
    std::string text = "before";
    append_json(text, e);
    CHECK(json::parse(text.substr(6)) == json(e));
    auto origin = std::make_shared<event_origin>(*e.origin);
    origin->parent_call = {};
    e.origin = std::move(origin);
    text.clear();
    append_json(text, e);
    CHECK(json::parse(text) == json(e));
  }
}

TEST_CASE("any bytes in a text are written as valid JSON, like the tree writes them") {
  std::mt19937 random{7};
  const std::vector<std::string> pieces = {"plain text that is long enough",
                                           "\"",
                                           "\\",
                                           "\n",
                                           "\x01",
                                           "\x7f",
                                           std::string(1, '\0'),
                                           "\xc3\xa9",
                                           "\xe2\x82\xac",
                                           "\xf0\x9f\x98\x80",
                                           "\xff",
                                           "\xc3",
                                           "\xe2\x82",
                                           "\xed\xa0\x80",
                                           "\xf0\x9f",
                                           "\xc0\x80",
                                           "\xf4\x90\x80\x80",
                                           "\x80"};
  for (int round = 0; round < 2000; ++round) {
    std::string mixed;
    for (auto count = random() % 12; count > 0; --count)
      mixed += pieces[random() % pieces.size()];
    for (auto count = random() % 4; count > 0; --count)
      mixed += static_cast<char>(random() % 256);
    const auto e = make(model_text_body{0, mixed, {}}, 1);
    std::string text;
    append_json(text, e);
    CHECK(json::parse(text) == json::parse(json(e).dump(-1, ' ', false, json::error_handler_t::replace)));
  }
}

TEST_CASE("an event without what it needs is refused with an exception, and nothing crashes") {
  auto j = json(all_kinds()[3]);
  for (const auto* key :
       {"seq", "session_id", "run_id", "agent_id", "author", "branch", "kind", "body", "id", "time"}) {
    auto broken = j;
    broken.erase(key);
    CHECK_THROWS_AS(broken.get<event>(), json::exception);
  }
  j["body"].erase("call_id");
  CHECK_THROWS_AS(j.get<event>(), json::exception);
}

TEST_CASE("a line is one line, whatever the text holds, and its control characters are inert") {
  auto e = make(model_text_body{0, "a\nb\x1b[31mred\x9b \xC2\x9B" + std::string(500, 'x'), {}}, 1);
  auto line = to_line(e, 60);
  CHECK(line.find('\n') == std::string::npos);
  CHECK(line.find('\x1b') == std::string::npos);
  CHECK(line.find("\\x1b[31mred") != std::string::npos);
  CHECK(line.find("…") != std::string::npos);
}
