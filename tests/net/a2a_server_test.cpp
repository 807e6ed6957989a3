// The server's side of A2A, with an engine that the test plays.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/a2a_request.hpp>
#include <troupe/net/server/internal/a2a_tasks.hpp>

#include <doctest/doctest.h>

#include "support/web_fixture.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using nlohmann::json;

namespace {

struct a2a_server {
  explicit a2a_server(http_server_options options = {}) : web(prepared(std::move(options))) {}
  static http_server_options prepared(http_server_options o) {
    o.a2a = a2a_server_options{};
    return o;
  }

  static json message(const std::string& text, const std::string& id = "m1",
                      const json& more = json::object()) {
    json m = {{"messageId", id}, {"role", "ROLE_USER"}, {"parts", {{{"text", text}}}}};
    m.update(more);
    return m;
  }
  static json call(const std::string& method, json params) {
    return {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(params)}};
  }
  [[nodiscard]] json rpc(const std::string& method, json params) const {
    return web.post("/a2a/root", call(method, std::move(params))).json();
  }
  // Sends, and leaves the answer for later.
  [[nodiscard]] raw_client begin(const std::string& method, const json& params) const {
    auto client = web.connect();
    client.send(web.request("POST", "/a2a/root", call(method, params).dump()));
    return client;
  }

  // A task that was begun and works; gives its id.
  std::string begin_task(const std::string& text = "go", const std::string& id = "m1") {
    const auto runs = web.engine.runs();
    const auto answer = rpc(
        "SendMessage", {{"message", message(text, id)}, {"configuration", {{"returnImmediately", true}}}});
    REQUIRE_MESSAGE(answer.contains("result"), answer.dump());
    auto run = web.engine.run(runs);
    run.feed->begin(make_run_id(run.request.session, 1), 1);
    return answer["result"]["task"]["id"];
  }
  void push(std::size_t i, event_body body, agent_number number = 0) {
    auto run = web.engine.run(i);
    auto origin = std::make_shared<event_origin>();
    origin->session = run.request.session;
    origin->number = number;
    origin->author = number == 0 ? "root" : "helper";
    auto batch = std::make_shared<event_batch>();
    event e;
    e.seq = ++seq;
    e.origin = origin;
    e.body = std::move(body);
    batch->push_back(std::move(e));
    run.feed->push(batch);
  }
  void finish(std::size_t i, outcome how) { web.engine.run(i).feed->finish(std::move(how)); }
  [[nodiscard]] json task(const std::string& id) const { return rpc("GetTask", {{"id", id}})["result"]; }

  web_fixture web;
  std::uint64_t seq = 0;
};

// The JSON of each event in a chunked stream of events.
std::vector<json> events_of(const std::string& text) {
  std::vector<json> all;
  for (std::size_t at = 0; (at = text.find("data: ", at)) != std::string::npos; at += 6)
    all.push_back(json::parse(text.substr(at + 6, text.find('\n', at) - at - 6)));
  return all;
}

int code_of(const json& answer) {
  return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
}

} // namespace

TEST_CASE("every way in which a run can end is a state of its task") {
  struct row {
    outcome ended;
    a2a::task_state state;
  };
  const row rows[] = {{outcome::make_completed("x"), a2a::task_state::completed},
                      {outcome::make_cancelled("user"), a2a::task_state::canceled},
                      {outcome::make_failed(errc::tool_failed, "x"), a2a::task_state::failed},
                      {outcome::make_failed(errc::timeout, "x"), a2a::task_state::failed},
                      {outcome::make_recovered(errc::max_turns, "x", "partial"), a2a::task_state::failed},
                      {outcome::make_failed(errc::needs_input, "x"), a2a::task_state::input_required},
                      {outcome::make_failed(errc::busy, "x"), a2a::task_state::rejected},
                      {outcome::make_failed(errc::shutting_down, "x"), a2a::task_state::rejected}};
  for (const auto& [ended, state] : rows)
    CHECK(state_of_outcome(ended, false) == state);
  // What had begun was not refused.
  CHECK(state_of_outcome(outcome::make_failed(errc::denied, "x"), true) == a2a::task_state::failed);
  CHECK(a2a_timestamp(timestamp{std::chrono::microseconds{1'500'000}}) == "1970-01-01T00:00:01.500Z");
}

TEST_CASE("the card says where and how, and is kept by its ETag") {
  a2a_server s;
  const auto got = s.web.get("/.well-known/agent-card.json");
  REQUIRE(got.status == 200);
  const auto card = got.json();
  CHECK(card["name"] == "root");
  const auto base = "http://127.0.0.1:" + std::to_string(s.web.port) + "/a2a/root";
  CHECK(card["supportedInterfaces"][0]["url"] == base);
  CHECK(card["supportedInterfaces"][1]["url"] == base + "/v1");
  CHECK(card["url"] == base);
  CHECK_FALSE(card.contains("securitySchemes"));
  CHECK(s.web.get("/a2a/root/agent-card.json").json() == card);
  const auto at = got.head.find("ETag: ");
  REQUIRE(at != std::string::npos);
  const auto etag = got.head.substr(at + 6, got.head.find('\r', at) - at - 6);
  CHECK(s.web.get("/.well-known/agent-card.json", "If-None-Match: " + etag + "\r\n").status == 304);
  CHECK(s.web.get("/a2a/nobody/agent-card.json").status == 404);
}

TEST_CASE("nothing is offered unless it was asked for, and a token guards all of it") {
  web_fixture plain;
  CHECK(plain.get("/.well-known/agent-card.json").status == 404);
  CHECK(plain.post("/a2a/root", a2a_server::call("GetTask", {{"id", "x"}})).status == 404);
  http_server_options o;
  o.token = "0123456789abcdef0123";
  a2a_server s{std::move(o)};
  CHECK(s.web.get("/.well-known/agent-card.json").status == 401);
  const auto card =
      s.web.get("/.well-known/agent-card.json", "Authorization: Bearer 0123456789abcdef0123\r\n").json();
  CHECK(card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"] == "Bearer");
}

TEST_CASE("a message that blocks is answered with the task at its end") {
  a2a_server s;
  auto client = s.begin("SendMessage", {{"message", a2a_server::message("hello")}});
  auto run = s.web.engine.run(0);
  CHECK(run.request.message->text() == "hello");
  CHECK(run.request.answerable);
  run.feed->begin(make_run_id(run.request.session, 1), 1);
  run.feed->finish(outcome::make_completed("hi there", json{{"n", 1}}));
  const auto answer = parse_reply(client.read_answer()).json();
  CHECK(answer["id"] == 7);
  const auto task = answer["result"]["task"];
  CHECK(task["status"]["state"] == "TASK_STATE_COMPLETED");
  CHECK(task["contextId"] == run.request.session.str());
  CHECK(task["artifacts"][0]["parts"] == json::parse(R"([{"text":"hi there"},{"data":{"n":1}}])"));
  CHECK(task["history"][0]["parts"][0]["text"] == "hello");
  CHECK(s.task(task["id"]) == task);
}

TEST_CASE("a stream has the task, its progress, its artifact and its end, the same for all who follow") {
  a2a_server s;
  auto first = s.begin("SendStreamingMessage", {{"message", a2a_server::message("hello")}});
  auto run = s.web.engine.run(0);
  auto head = first.read_until("SUBMITTED");
  const auto id = s.rpc("ListTasks", json::object())["result"]["tasks"][0]["id"].get<std::string>();
  auto second = s.begin("SubscribeToTask", {{"id", id}});
  head += first.read_until("\n\n");
  auto head2 = second.read_until("\n\n");
  run.feed->begin(make_run_id(run.request.session, 1), 1);
  s.push(0, agent_started_body{"helper", "registry", "m", 0, false}, 1);
  run.feed->finish(outcome::make_completed("done"));
  const auto a = events_of(head + first.read_all());
  const auto b = events_of(head2 + second.read_all());
  REQUIRE(a.size() == 5);
  CHECK(a[0]["result"].contains("task"));
  CHECK(a[1]["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_WORKING");
  CHECK(a[2]["result"]["statusUpdate"]["metadata"][a2a::activity_extension]["agent"] == "helper");
  CHECK_FALSE(a[2]["result"]["statusUpdate"]["status"].contains("message"));
  CHECK(a[3]["result"]["artifactUpdate"]["artifact"]["parts"][0]["text"] == "done");
  CHECK(a[4]["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED");
  REQUIRE(b.size() == 5);
  for (std::size_t i = 1; i < 5; ++i)
    CHECK(a[i]["result"] == b[i]["result"]);
}

TEST_CASE("closing a stream does not touch the task") {
  a2a_server s;
  {
    auto client = s.begin("SendStreamingMessage", {{"message", a2a_server::message("hello")}});
    static_cast<void>(client.read_until("SUBMITTED"));
  }
  const auto id = s.rpc("ListTasks", json::object())["result"]["tasks"][0]["id"].get<std::string>();
  CHECK(s.task(id)["status"]["state"] == "TASK_STATE_SUBMITTED");
  CHECK(s.web.engine.cancelled().empty());
}

TEST_CASE("a question waits for a message with the id of the task") {
  a2a_server s;
  const auto id = s.begin_task();
  s.push(0, question_body{call_id{"c0-0-0"}, "Which colour?", {{"type", "string"}}, "agent"});
  auto asked = s.task(id);
  CHECK(asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED");
  CHECK(asked["status"]["message"]["parts"][0]["text"] == "Which colour?");
  const auto answer = s.rpc("SendMessage", {{"message", a2a_server::message("blue", "m2", {{"taskId", id}})},
                                            {"configuration", {{"returnImmediately", true}}}});
  CHECK(answer["result"]["task"]["status"]["state"] == "TASK_STATE_WORKING");
  CHECK(s.web.engine.runs() == 1);
}

TEST_CASE("a stream that begins when a question is open already ends with it") {
  a2a_server s;
  const auto id = s.begin_task();
  s.push(0, question_body{call_id{"c0-0-0"}, "Which colour?", {{"type", "string"}}, "agent"});
  // The message comes again, as after a connection that was lost.
  auto client = s.begin("SendStreamingMessage", {{"message", a2a_server::message("go")}});
  const auto events = events_of(client.read_all());
  REQUIRE(events.size() == 1);
  CHECK(events[0]["result"]["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED");
}

TEST_CASE("a question of policy takes yes and no") {
  a2a_server s;
  const auto id = s.begin_task();
  s.push(0, question_body{call_id{"c0-0-0"}, "Delete it?", {{"type", "boolean"}}, "policy"});
  CHECK(s.task(id)["status"]["message"]["parts"][0]["text"] == "Delete it? (yes or no)");
  const auto odd =
      s.rpc("SendMessage", {{"message", a2a_server::message("perhaps", "m2", {{"taskId", id}})}});
  CHECK(code_of(odd) == -32602);
  const auto yes = s.rpc("SendMessage", {{"message", a2a_server::message("Yes.", "m3", {{"taskId", id}})},
                                         {"configuration", {{"returnImmediately", true}}}});
  CHECK(yes["result"]["task"]["status"]["state"] == "TASK_STATE_WORKING");
}

TEST_CASE("a message to a task that works is a hint, and to one that has ended an error") {
  a2a_server s;
  const auto id = s.begin_task();
  const auto told = s.rpc("SendMessage", {{"message", a2a_server::message("faster", "m2", {{"taskId", id}})},
                                          {"configuration", {{"returnImmediately", true}}}});
  CHECK(told["result"]["task"]["id"] == id);
  REQUIRE(s.web.engine.hints().size() == 1);
  CHECK(s.web.engine.hints()[0].text == "faster");
  s.finish(0, outcome::make_failed(errc::tool_failed, "broken", "half"));
  const auto task = s.task(id);
  CHECK(task["status"]["state"] == "TASK_STATE_FAILED");
  CHECK(task["status"]["message"]["parts"][0]["text"] == "tool_failed: broken");
  CHECK(task["artifacts"][0]["parts"][0]["text"] == "half");
  CHECK(code_of(s.rpc("SendMessage", {{"message", a2a_server::message("again", "m3", {{"taskId", id}})}})) ==
        -32004);
  CHECK(code_of(s.rpc("SubscribeToTask", {{"id", id}})) == -32004);
  CHECK(code_of(s.rpc("CancelTask", {{"id", id}})) == -32002);
}

TEST_CASE("cancelling goes to the engine, and one that has not begun ends at once") {
  a2a_server s;
  const auto id = s.begin_task();
  auto client = s.begin("CancelTask", {{"id", id}});
  while (s.web.engine.cancelled().empty())
    static_cast<void>(s.task(id));
  s.finish(0, outcome::make_cancelled("user"));
  CHECK(parse_reply(client.read_answer()).json()["result"]["status"]["state"] == "TASK_STATE_CANCELED");
  const auto waiting = s.rpc("SendMessage", {{"message", a2a_server::message("x", "m9")},
                                             {"configuration", {{"returnImmediately", true}}}});
  const auto ended = s.rpc("CancelTask", {{"id", waiting["result"]["task"]["id"]}});
  CHECK(ended["result"]["status"]["state"] == "TASK_STATE_CANCELED");
  REQUIRE(s.web.engine.cancelled().size() == 1);
  // The root agent: what waits behind it in the session is another task.
  CHECK(s.web.engine.cancelled()[0].second == make_agent_id(s.web.engine.run(0).request.session, 0));
}

TEST_CASE("a question may have any schema, and who answers need not know it") {
  for (const json& schema : {json{{"type", {"string", "null"}}}, json(true), json(nullptr)}) {
    CAPTURE(schema.dump());
    a2a_server s;
    const auto id = s.begin_task();
    s.push(0, question_body{call_id{"c0-0-0"}, "Which colour?", schema, "agent"});
    CHECK(s.task(id)["status"]["state"] == "TASK_STATE_INPUT_REQUIRED");
    const auto answer =
        s.rpc("SendMessage", {{"message", a2a_server::message("blue", "m2", {{"taskId", id}})},
                              {"configuration", {{"returnImmediately", true}}}});
    CHECK(answer["result"]["task"]["status"]["state"] == "TASK_STATE_WORKING");
  }
}

TEST_CASE("an answer that does not fit is the client's mistake") {
  a2a_server s;
  s.web.engine.control = error{errc::bad_arguments, "The answer is too short."};
  const auto id = s.begin_task();
  s.push(0, question_body{call_id{"c0-0-0"}, "Which colour?", {{"type", "string"}}, "agent"});
  CHECK(code_of(s.rpc("SendMessage", {{"message", a2a_server::message("b", "m2", {{"taskId", id}})}})) ==
        -32602);
}

TEST_CASE("secrets do not leave in data and schemas") {
  a2a_server s;
  const auto id = s.begin_task();
  auto follower = s.begin("SubscribeToTask", {{"id", id}});
  auto told = follower.read_until("\n\n");
  const json schema = {{"type", "object"},
                       {"properties", {{"api_key", {{"type", "string"}, {"default", "hunter2hunter2"}}}}}};
  s.push(0, question_body{call_id{"c0-0-0"}, "Log in.", schema, "agent"});
  told += follower.read_all();
  CHECK(told.find("INPUT_REQUIRED") != std::string::npos);
  CHECK(told.find("api_key") != std::string::npos);
  CHECK(told.find("hunter2") == std::string::npos);
  s.finish(0, outcome::make_completed("done", json{{"password", "hunter2hunter2"}, {"n", 1}}));
  const auto task = s.task(id);
  CHECK(task["artifacts"][0]["parts"][1]["data"]["n"] == 1);
  CHECK(task.dump().find("hunter2") == std::string::npos);
}

TEST_CASE("a task that has not begun takes no message, and one that works takes no files") {
  a2a_server s;
  const auto waiting = s.rpc("SendMessage", {{"message", a2a_server::message("x", "m1")},
                                             {"configuration", {{"returnImmediately", true}}}});
  const std::string queued = waiting["result"]["task"]["id"];
  CHECK(code_of(s.rpc("SendMessage", {{"message", a2a_server::message("y", "m2", {{"taskId", queued}})}})) ==
        -32004);
  const auto id = s.begin_task("go", "m3");
  const json file = {{"raw", "aGk="}, {"mediaType", "text/plain"}};
  const json words = {{{"text", "one"}}, {{"text", "two"}}};
  CHECK(code_of(s.rpc("SendMessage",
                      {{"message", a2a_server::message("", "m4", {{"taskId", id}, {"parts", {file}}})}})) ==
        -32005);
  CHECK(s.web.engine.hints().empty());
  static_cast<void>(
      s.rpc("SendMessage", {{"message", a2a_server::message("", "m5", {{"taskId", id}, {"parts", words}})},
                            {"configuration", {{"returnImmediately", true}}}}));
  REQUIRE(s.web.engine.hints().size() == 1);
  CHECK(s.web.engine.hints()[0].text == "one\ntwo");
}

TEST_CASE("an id of a message is one within its context and with its words") {
  a2a_server s;
  const auto a = s.begin_task("go", "same");
  const auto other = [&](const json& more, const std::string& text) {
    return s.rpc("SendMessage", {{"message", a2a_server::message(text, "same", more)},
                                 {"configuration", {{"returnImmediately", true}}}})["result"]["task"]["id"];
  };
  CHECK(other(json::object(), "go") == a);
  CHECK(other({{"contextId", "elsewhere"}}, "go") != a);
  CHECK(other(json::object(), "stop") != a);
  CHECK(s.web.engine.runs() == 3);
}

TEST_CASE("a time is read as it is meant") {
  const auto at = [](const char* text) { return read_a2a_timestamp(text); };
  CHECK(at("1970-01-01T00:00:01.5Z") == timestamp{std::chrono::microseconds{1'500'000}});
  CHECK(at("1970-01-01T02:00:01+02:00") == timestamp{std::chrono::microseconds{1'000'000}});
  CHECK(at("1969-12-31t22:30:00.000001-01:30") == timestamp{std::chrono::microseconds{1}});
  for (const char* bad :
       {"", "yesterday", "1970-01-01", "1970-01-01T00:00:01", "1970-02-30T00:00:00Z", "1970-01-01T24:00:00Z",
        "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00Zx", "1970-01-01T00:00:00+2:00", "-970-01-01T00:00:00Z"})
    CHECK_MESSAGE(!at(bad), bad);
  a2a_server s;
  static_cast<void>(s.begin_task());
  CHECK(s.rpc("ListTasks", {{"statusTimestampAfter", "2000-01-01T02:00:00+02:00"}})["result"]["totalSize"] ==
        1);
  CHECK(s.rpc("ListTasks", {{"statusTimestampAfter", "9000-01-01T00:00:00Z"}})["result"]["totalSize"] == 0);
  CHECK(code_of(s.rpc("ListTasks", {{"statusTimestampAfter", "yesterday"}})) == -32602);
}

TEST_CASE("dropping a push notification is refused like setting one") {
  a2a_server s;
  const auto got = s.web.ask_raw(
      s.web.request("DELETE", "/a2a/root/v1/tasks/t/pushNotificationConfigs/c", "", "A2A-Version: 1.0\r\n"));
  CHECK(got.status == 400);
  CHECK(got.json()["error"]["details"][0]["reason"] == "PUSH_NOTIFICATION_NOT_SUPPORTED");
}

TEST_CASE("who listens no more goes when somebody else comes") {
  auto task = std::make_shared<a2a_task>("a", session_id{"s"}, std::make_shared<a2a_totals>());
  task->set_id("t");
  auto kept = std::make_shared<bool>(true);
  const std::weak_ptr<bool> alive = kept;
  bool listens = true;
  task->on_change([kept = std::move(kept), &listens] { return listens && *kept; });
  task->on_change([] { return true; });
  CHECK_FALSE(alive.expired());
  listens = false;
  task->on_change([] { return true; });
  CHECK(alive.expired());
}

TEST_CASE("the table keeps so many bytes, and a task so many of its history") {
  a2a_tasks table{100, std::size_t{64} << 10};
  fake_engine engine;
  for (int i = 0; i < 10; ++i) {
    auto t = table.make("a", session_id{"s" + std::to_string(i)});
    t->set_id("t" + std::to_string(i));
    run_feed feed{t->session, engine.store()};
    feed.finish(outcome::make_completed(std::string(10'000, 'x')));
    t->follow(feed);
    table.add(t, "m" + std::to_string(i));
  }
  CHECK(table.find("a", "t0") == nullptr);
  CHECK(table.find("a", "t9") != nullptr);
  CHECK(table.list("a", {}).total < 4);

  const auto totals = std::make_shared<a2a_totals>();
  {
    a2a_task task{"a", session_id{"s"}, totals};
    for (int i = 0; i < 4; ++i) {
      a2a::message said;
      said.parts.push_back(
          {a2a::part::form::text, std::string(a2a_task::max_history_bytes / 3, 'x'), {}, {}, {}});
      task.add_message(std::move(said));
    }
    CHECK(task.snapshot({}).history.size() == 2);
    CHECK(totals->bytes > 0);
  }
  CHECK(totals->bytes == 0);
}

TEST_CASE("a message that comes again does not begin another task") {
  a2a_server s;
  const auto id = s.begin_task("go", "same");
  const auto again = s.rpc("SendMessage", {{"message", a2a_server::message("go", "same")},
                                           {"configuration", {{"returnImmediately", true}}}});
  CHECK(again["result"]["task"]["id"] == id);
  CHECK(s.web.engine.runs() == 1);
}

TEST_CASE("tasks are listed in pages, the last changed first") {
  a2a_server s;
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i)
    ids.push_back(s.begin_task("t", "m" + std::to_string(i)));
  s.finish(1, outcome::make_completed("x"));
  const auto first = s.rpc("ListTasks", {{"pageSize", 3}})["result"];
  CHECK(first["tasks"].size() == 3);
  CHECK(first["totalSize"] == 5);
  CHECK(first["tasks"][0]["id"] == ids[1]);
  CHECK_FALSE(first["tasks"][0].contains("artifacts"));
  const auto rest = s.rpc("ListTasks", {{"pageSize", 3}, {"pageToken", first["nextPageToken"]}})["result"];
  CHECK(rest["tasks"].size() == 2);
  CHECK(rest["nextPageToken"] == "");
  const auto done =
      s.rpc("ListTasks", {{"status", "TASK_STATE_COMPLETED"}, {"includeArtifacts", true}})["result"];
  REQUIRE(done["tasks"].size() == 1);
  CHECK(done["tasks"][0]["artifacts"].size() == 1);
  CHECK(code_of(s.rpc("ListTasks", {{"pageSize", 0}})) == -32602);
  CHECK(code_of(s.rpc("ListTasks", {{"pageToken", "x"}})) == -32602);
  CHECK(code_of(s.rpc("ListTasks", {{"status", "FLYING"}})) == -32602);
}

TEST_CASE("version 0.3 has its own words over JSON-RPC and HTTP") {
  a2a_server s;
  auto client = s.begin("message/stream", {{"message",
                                            {{"kind", "message"},
                                             {"messageId", "m1"},
                                             {"role", "user"},
                                             {"parts", {{{"kind", "text"}, {"text", "hello"}}}}}}});
  auto run = s.web.engine.run(0);
  CHECK(run.request.message->text() == "hello");
  auto head = client.read_until("\n\n");
  run.feed->begin(make_run_id(run.request.session, 1), 1);
  run.feed->finish(outcome::make_completed("done"));
  const auto events = events_of(head + client.read_all());
  REQUIRE(events.size() == 4);
  CHECK(events[0]["result"]["kind"] == "task");
  CHECK(events[2]["result"]["kind"] == "artifact-update");
  CHECK(events[3]["result"]["final"] == true);
  CHECK(events[3]["result"]["status"]["state"] == "completed");
  const std::string id = events[0]["result"]["id"];
  const auto rest = s.web.get("/a2a/root/v1/tasks/" + id);
  CHECK(rest.json()["status"]["state"] == "TASK_STATE_COMPLETED");
  CHECK(rest.json()["history"][0]["content"][0]["text"] == "hello");
  const auto v1 = s.web.get("/a2a/root/v1/tasks/" + id, "A2A-Version: 1.0\r\n");
  CHECK(v1.json()["history"][0]["parts"][0]["text"] == "hello");
  CHECK(v1.has("application/a2a+json"));
  const auto missing = s.web.get("/a2a/root/v1/tasks/nope", "A2A-Version: 1.0\r\n");
  CHECK(missing.status == 404);
  CHECK(missing.json()["error"]["details"][0]["reason"] == "TASK_NOT_FOUND");
  CHECK(s.web.get("/a2a/root/v1/tasks/nope").json()["code"] == -32001);
}

TEST_CASE("what is not there or not right has the code of its error") {
  a2a_server s;
  const auto raw = [&](const std::string& body, const std::string& more = {}) {
    return s.web
        .ask_raw(s.web.request("POST", "/a2a/root", body,
                               more + "Content-Type: application/json\r\nContent-Length: " +
                                   std::to_string(body.size()) + "\r\n"))
        .json();
  };
  CHECK(code_of(raw("{")) == -32700);
  CHECK(code_of(raw("[]")) == -32600);
  CHECK(code_of(raw(R"({"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}})")) == -32600);
  CHECK(code_of(raw(R"({"jsonrpc":"1.0","id":1,"method":"GetTask"})")) == -32600);
  CHECK(code_of(raw(R"({"jsonrpc":"2.0","id":1,"method":"Dance"})")) == -32601);
  CHECK(code_of(raw(R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]})")) == -32602);
  CHECK(code_of(raw(R"({"jsonrpc":"2.0","id":1,"method":"GetTask"})", "A2A-Version: 9.9\r\n")) == -32009);
  CHECK(code_of(raw(std::string(100'000, '['))) == -32700);
  CHECK(code_of(s.rpc("GetTask", {{"id", "nope"}})) == -32001);
  CHECK(code_of(s.rpc("GetTask", json::object())) == -32602);
  CHECK(code_of(s.rpc("SendMessage", json::object())) == -32602);
  CHECK(code_of(s.rpc("SendMessage", {{"message", {{"messageId", "m"}, {"parts", json::array()}}}})) ==
        -32602);
  CHECK(code_of(s.rpc("SendMessage", {{"message", a2a_server::message("x", "m", {{"taskId", "nope"}})}})) ==
        -32001);
  CHECK(code_of(s.rpc("SendMessage",
                      {{"message", a2a_server::message("x", "m", {{"contextId", "a b/c"}})}})) == -32602);
  CHECK(code_of(s.rpc("GetExtendedAgentCard", json::object())) == -32007);
  for (const char* method : {"CreateTaskPushNotificationConfig", "tasks/pushNotificationConfig/set",
                             "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"})
    CHECK(code_of(s.rpc(method, {{"id", "x"}})) == -32003);
  const auto data = s.rpc("GetTask", {{"id", "nope"}})["error"]["data"][0];
  CHECK(data["reason"] == "TASK_NOT_FOUND");
  CHECK(data["domain"] == "a2a-protocol.org");
}

TEST_CASE("a request that has come too far is refused, and one that is not carries its hops on") {
  a2a_server s;
  const auto far =
      s.rpc("SendMessage",
            {{"message", a2a_server::message("x", "m1", {{"metadata", {{a2a::hops_extension, 5}}}})}});
  CHECK(code_of(far) == -32004);
  const auto near = s.rpc(
      "SendMessage", {{"message", a2a_server::message("x", "m2", {{"metadata", {{a2a::hops_extension, 3}}}})},
                      {"configuration", {{"returnImmediately", true}}}});
  CHECK(near.contains("result"));
  CHECK(s.web.engine.run(0).request.hops == 3);
}

TEST_CASE("a task keeps no more updates than it may, and who missed some gets the whole") {
  auto task = std::make_shared<a2a_task>("a", session_id{"s"}, std::make_shared<a2a_totals>());
  task->set_id("t");
  fake_engine engine;
  run_feed feed{session_id{"s"}, engine.store()};
  feed.begin(make_run_id(session_id{"s"}, 1), 1);
  task->follow(feed);
  std::size_t from = 0;
  CHECK(task->updates(from).size() == 1);
  auto origin = std::make_shared<event_origin>();
  origin->number = 1;
  for (std::uint64_t i = 1; i <= a2a_task::max_updates + 10; ++i) {
    auto batch = std::make_shared<event_batch>();
    event e;
    e.seq = i;
    e.origin = origin;
    e.body = agent_started_body{"c", "registry", "m", 0, false};
    batch->push_back(std::move(e));
    feed.push(batch);
    task->follow(feed);
  }
  const auto missed = task->updates(from);
  REQUIRE(missed.size() == 1);
  CHECK(std::holds_alternative<a2a::task>(missed[0]));
  CHECK(task->updates(from).empty());
}

TEST_CASE("the table forgets what ended first, and nothing that works") {
  a2a_tasks table{2};
  fake_engine engine;
  std::vector<std::shared_ptr<a2a_task>> tasks;
  for (int i = 0; i < 4; ++i) {
    auto t = table.make("a", session_id{"s" + std::to_string(i)});
    t->set_id("t" + std::to_string(i));
    if (i == 1 || i == 2) {
      run_feed feed{t->session, engine.store()};
      feed.finish(outcome::make_completed("x"));
      t->follow(feed);
    }
    table.add(t, "m" + std::to_string(i));
    tasks.push_back(t);
  }
  CHECK(table.find("a", "t0") != nullptr);
  CHECK(table.find("a", "t1") == nullptr);
  CHECK(table.find("a", "t2") == nullptr);
  CHECK(table.find("a", "t3") != nullptr);
  CHECK(table.begun_by("m1") == nullptr);
  CHECK(table.begun_by("m3") != nullptr);
  CHECK(table.find("b", "t0") == nullptr);
}
