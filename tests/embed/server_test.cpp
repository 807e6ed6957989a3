// The server of a runtime, end to end: runs, questions, background work and streams with real agents.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/server.hpp>
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <latch>

#include "embed/model_rules.hpp"
#include "support/raw_client.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// Asks the user once where the prompt says so, and repeats what it is told.
model_response rules(const model_request& request) {
  if (tool_turns(request) == 0 && last_text(request).find("ask") != std::string::npos)
    return call_response("request_input", {{"message", "which?"}});
  return text_response("it is " + last_text(request));
}

struct world {
  explicit world(server_options options = {}, model_function model = rules) {
    rt.add_model("rules", function_model(std::move(model)));
    options.listen = "127.0.0.1:0";
    options.agents.push_back(rt.create_deep_agent(
        {.name = "root", .model = "rules", .instruction = "You are a test.", .tools = {"request_input"}}));
    srv = std::make_unique<server>(rt, std::move(options));
  }
  // One request on a connection of its own: status and body.
  std::pair<int, json> ask(const std::string& method, const std::string& target,
                           const json& body = nullptr) const {
    raw_client client{srv->port()};
    const auto text = body.is_null() ? std::string{} : body.dump();
    std::string request = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n";
    if (method == "POST")
      request += "Content-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) + "\r\n";
    client.send(request + "\r\n" + text);
    const auto answer = client.read_answer();
    return {std::stoi(answer.substr(9, 3)),
            json::parse(answer.substr(answer.find("\r\n\r\n") + 4), nullptr, false)};
  }

  runtime rt;
  std::unique_ptr<server> srv;
};

// The data of the next event of a stream whose message has this type.
json next_of(raw_client& client, const std::string& type) {
  for (;;) {
    const auto event = client.read_until("\n\n");
    const auto data = event.find("data: ");
    if (event.empty())
      return nullptr;
    if (data == std::string::npos)
      continue;
    auto message = json::parse(event.substr(data + 6), nullptr, false);
    if (message.is_object() && message["type"] == type)
      return message;
  }
}

} // namespace

TEST_CASE("a run over HTTP is a run: its answer, its events, its row") {
  world w;
  auto [status, run] = w.ask("POST", "/v1/runs?wait=60", {{"prompt", "hello"}, {"session", "s1"}});
  CHECK(status == 201);
  CHECK(run["state"] == "completed");
  CHECK(run["outcome"]["text"] == "it is hello");
  CHECK(run["run"] == "s1/r1");
  auto events = w.ask("GET", "/v1/sessions/s1/events").second;
  REQUIRE(events["events"].size() > 2);
  CHECK(events["events"].back()["kind"] == "agent_ended");
  CHECK(w.ask("GET", "/v1/sessions/s1").second["root"] == "root");
  CHECK(w.ask("GET", "/v1/models").second["models"].size() == 2);
  CHECK(w.ask("GET", "/v1/agents").second["agents"][0]["name"] == "root");
}

TEST_CASE("a question is seen in a stream, answered over HTTP, and the run goes on") {
  world w;
  raw_client stream{w.srv->port()};
  stream.send("GET /v1/events?events=true HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
  static_cast<void>(next_of(stream, "vitals"));
  auto id =
      w.ask("POST", "/v1/runs", {{"prompt", "ask me"}, {"session", "s1"}}).second["id"].get<std::string>();
  json question;
  while (question.is_null()) {
    const auto message = next_of(stream, "events");
    REQUIRE(message.is_object());
    for (const auto& e : message["events"])
      if (e["kind"] == "question")
        question = e["body"]["question_id"];
  }
  json session;
  do
    session = w.ask("GET", "/v1/sessions/s1").second["live"];
  while (session["group"] != "needs_input");
  CHECK(session["questions"][0]["question"] == question);
  CHECK(w.ask("GET", "/v1/runs/" + id).second["state"] == "needs_input");
  CHECK(w.ask("POST", "/v1/runs/" + id + "/answer", {{"question", "c9-9-9"}, {"value", "x"}}).first >= 400);
  CHECK(w.ask("POST", "/v1/runs/" + id + "/answer", {{"question", question}, {"value", "red"}}).first == 200);
  for (bool ended = false; !ended;) {
    const auto message = next_of(stream, "events");
    REQUIRE(message.is_object());
    for (const auto& e : message["events"])
      ended |= e["kind"] == "agent_ended";
  }
  CHECK(w.ask("POST", "/v1/runs?wait=60", {{"prompt", "again"}, {"session", "s1"}}).second["state"] ==
        "completed");
}

TEST_CASE("a session that is busy refuses, and a cancelled run says so") {
  std::latch begun{1};
  std::latch go{1};
  world w{{}, [&](const model_request& request) {
            if (last_text(request) == "hold") {
              begun.count_down();
              go.wait();
            }
            return text_response("ok");
          }};
  auto id =
      w.ask("POST", "/v1/runs", {{"prompt", "hold"}, {"session", "s1"}}).second["id"].get<std::string>();
  begun.wait();
  auto [status, refused] =
      w.ask("POST", "/v1/runs", {{"prompt", "x"}, {"session", "s1"}, {"on_busy", "reject"}});
  CHECK(status == 409);
  CHECK(refused["error"]["code"] == "busy");
  CHECK(w.ask("POST", "/v1/runs/" + id + "/cancel").first == 202);
  go.count_down();
  CHECK(w.srv->wait_quiet(20s));
  CHECK(w.ask("GET", "/v1/runs/" + id).second["state"] == "cancelled");
}

TEST_CASE("a page is served out of a folder") {
  temporary_folder folder;
  folder.write("index.html", "<!doctype html><title>x</title>");
  folder.write("assets/app-3f9a1c2b.js", "1");
  folder.write(".secret", "no");
  server_options o;
  o.web_root = folder.path();
  world w{std::move(o)};
  raw_client client{w.srv->port()};
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  auto page = client.read_answer();
  CHECK(page.find("text/html") != std::string::npos);
  CHECK(page.ends_with("<title>x</title>"));
  client.send("GET /assets/app-3f9a1c2b.js HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(client.read_answer().find("immutable") != std::string::npos);
  client.send("GET /.secret HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(client.read_answer().starts_with("HTTP/1.1 404"));
}

TEST_CASE("the dashboard and the metrics of the runtime are there without being asked for") {
  world w;
  static_cast<void>(w.ask("POST", "/v1/runs?wait=60", {{"prompt", "hello"}}));
  raw_client client{w.srv->port()};
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto page = client.read_answer();
  CHECK(page.starts_with("HTTP/1.1 200"));
  CHECK(page.find("<html") != std::string::npos);
  client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto metrics = client.read_answer();
  CHECK(metrics.find("Content-Type: text/plain; version=0.0.4") != std::string::npos);
  CHECK_MESSAGE(metrics.find("\ntroupe_") != std::string::npos, metrics);
}

TEST_CASE("what cannot be served is told when the server is made") {
  temporary_folder folder;
  folder.write("short", "x\n");
  folder.write("two", "0123456789abcdef\n0123456789abcdef\n");
  runtime rt;
  auto make = [&](server_options o) { server made{rt, std::move(o)}; };
  CHECK_THROWS_AS(make({.listen = "0.0.0.0:0"}), config_error);
  CHECK_THROWS_AS(make({.listen = "127.0.0.1:0", .token_file = folder.path() / "none"}), config_error);
  CHECK_THROWS_AS(make({.listen = "127.0.0.1:0", .token_file = folder.path() / "short"}), config_error);
  CHECK_THROWS_AS(make({.listen = "127.0.0.1:0", .token_file = folder.path() / "two"}), config_error);
  CHECK_THROWS_AS(make({.listen = "127.0.0.1:0", .web_root = folder.path()}), config_error);
}

TEST_CASE("a server outlives its runtime, and says that it has ended") {
  auto rt = std::make_unique<runtime>();
  auto root = rt->create_deep_agent({.name = "root", .instruction = "You are a test."});
  server srv{*rt, {.listen = "127.0.0.1:0", .agents = {root}}};
  rt.reset();
  raw_client client{srv.port()};
  client.send("GET /v1/snapshot HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(client.read_answer().size() > 0);
  client.send("POST /v1/runs?wait=20 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              "Content-Length: 14\r\n\r\n{\"prompt\":\"x\"}");
  CHECK(client.read_answer().find("shutting_down") != std::string::npos);
}
