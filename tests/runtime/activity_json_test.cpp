// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/activity_json.hpp>
#include <troupe/runtime/surface.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using json = nlohmann::json;

namespace {

agent_row make_row() {
  auto origin = std::make_shared<event_origin>();
  origin->session = session_id{"s"};
  origin->number = 3;
  origin->author = "reviewer";
  origin->branch = "root.reviewer";
  agent_row row;
  row.origin = origin;
  row.current = "curl -H 'Authorization: Bearer abcdefgh12345678' https://x";
  row.self.usage.input = 12;
  row.self.usage.cost_nano_usd = 42;
  return row;
}

} // namespace

TEST_CASE("rows are JSON, with secrets masked and innocent text left alone") {
  auto row = make_row();
  row.items.push_back({"c1",
                       activity_type::tool_call,
                       "fetch",
                       {},
                       {},
                       R"({"url":"https://a.b/c?max_tokens=5","api_key":"abc123"})",
                       activity_status::running,
                       {},
                       {}});
  row.items.push_back({"e1",
                       activity_type::thought,
                       "password=hunter2 then go on",
                       {},
                       {},
                       {},
                       activity_status::completed,
                       {},
                       {}});
  std::string text;
  append_shown(text, row);
  const auto j = json::parse(text);
  CHECK(j.at("number") == 3);
  CHECK(j.at("usage").at("cost_nano_usd") == 42);
  CHECK(text.find("abcdefgh12345678") == std::string::npos);
  CHECK(text.find("abc123") == std::string::npos);
  CHECK(text.find("hunter2") == std::string::npos);
  CHECK(j.at("items").at(0).at("description") == "https://a.b/c?max_tokens=5");
  CHECK(json::parse(j.at("items").at(0).at("args").get<std::string>()).at("api_key") == "[REDACTED]");
  CHECK(j.at("items").at(1).at("content").get<std::string>().ends_with("then go on"));
}

TEST_CASE("values in events are masked by their keys, and schemas stay schemas") {
  auto origin = std::make_shared<event_origin>();
  event e;
  e.origin = origin;
  e.body =
      answer_body{call_id{"q"}, {{"password", "hunter2hunter2"}, {"name", "token abcdefgh12345678"}}, "user"};
  auto shown = shown_json(e).dump();
  CHECK(shown.find("hunter2") == std::string::npos);
  CHECK(shown.find("abcdefgh12345678") == std::string::npos);
  const json schema = {{"type", "object"},
                       {"description", "The token abcdefgh12345678 is old."},
                       {"properties",
                        {{"password", {{"type", "string"}, {"default", "hunter2"}}},
                         {"color", {{"enum", {"red", "green"}}}}}}};
  e.body = question_body{call_id{"q"}, "Which?", schema, "agent"};
  const auto body = shown_json(e).at("body");
  CHECK(body.dump().find("hunter2") == std::string::npos);
  CHECK(body.dump().find("abcdefgh12345678") == std::string::npos);
  CHECK(body.at("schema").at("properties").at("password").at("type") == "string");
  CHECK(body.at("schema").at("properties").at("color").at("enum") == json{"red", "green"});
  CHECK(body.at("question_id") == "q");
}

TEST_CASE("a secret that is cut is masked first") {
  auto row = make_row();
  row.current = std::string(100, '.') + " postgres://admin:Sup3rS3cretPassw0rd@db/x";
  std::string text;
  append_shown(text, row);
  CHECK(text.find("Sup3r") == std::string::npos);
  CHECK(json::parse(text).at("current").get<std::string>().size() <= shown_lengths::current);
}

TEST_CASE("text that is hostile to a page or a terminal is a JSON string like any other") {
  auto row = make_row();
  row.current = "<img src=x onerror=alert(1)>\x1b[2J\xff\xe2\x80\xae";
  std::string text;
  append_shown(text, row);
  CHECK(text.find('\x1b') == std::string::npos);
  const auto j = json::parse(text); // throws when it is not UTF-8
  CHECK(j.at("current").get<std::string>().starts_with("<img src=x onerror=alert(1)>\x1b[2J"));
}

TEST_CASE("changes and vitals are messages of the stream") {
  activity_changes changes;
  session_row session;
  session.session = session_id{"s"};
  session.group = session_group::needs_input;
  session.questions.push_back(
      {call_id{"c0-0-0"},
       0,
       "root",
       {call_id{"c0-0-0"}, "May I use token abcdefgh12345678?", {{"type", "boolean"}}, "policy"},
       {}});
  changes.sessions.push_back(session);
  changes.agents.push_back(make_row());
  changes.removed_agents = {4, 5};
  changes.removed_sessions = {session_id{"t"}};
  activity_query query;
  auto j = json::parse(shown_changes(changes, query, "b:7", timestamp{std::chrono::microseconds{9}}));
  CHECK(j.at("type") == "delta");
  CHECK(j.at("cursor") == "b:7");
  CHECK_FALSE(j.contains("agents"));
  CHECK(j.at("sessions").at(0).at("group") == "needs_input");
  CHECK(j.at("sessions").at(0).at("questions").at(0).at("schema") == json{{"type", "boolean"}});
  CHECK(j.dump().find("abcdefgh12345678") == std::string::npos);
  query.session = session_id{"s"};
  changes.complete = true;
  j = json::parse(shown_changes(changes, query, "b:7", {}));
  CHECK(j.at("type") == "snapshot");
  CHECK(j.at("agents").size() == 1);
  CHECK_FALSE(j.contains("removed_agents"));

  activity_vitals vitals;
  vitals.tools["read_file"].calls = 2;
  vitals.tools["read_file"].time.add(1000);
  model_listing fast;
  fast.status.counts.calls = 5;
  fast.status.latency.add(20'000);
  j = json::parse(shown_vitals(vitals, {{"fast", fast}}, {}));
  CHECK(j.at("models").at(0).at("calls") == 5);
  CHECK(j.at("models").at(0).at("latency").at("count") == 1);
  CHECK(j.at("models").at(0).at("latency").at("p50").get<double>() == doctest::Approx(0.0175).epsilon(0.2));
  CHECK(j.at("tools").at(0).at("name") == "read_file");
}

TEST_CASE("a call is described by the first argument that says what it is about, cut at sixty characters") {
  CHECK(describe_call(R"({"limit":3,"query":"cats"})") == "cats");
  CHECK(describe_call(R"({"path":")" + std::string(100, 'a') + R"("})").size() == 60);
  CHECK(describe_call(R"({"path":"a.)").empty()); // cut
  CHECK(describe_call("[1]").empty());
  CHECK(describe_call(R"({"command":"PASSWORD=hunter2 run"})") == "PASSWORD=[REDACTED] run");
}
