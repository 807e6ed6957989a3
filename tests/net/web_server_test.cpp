// The API over HTTP, with an engine that the test plays.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/http_server.hpp>

#include <doctest/doctest.h>

#include <thread>

#include "support/web_fixture.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

TEST_CASE("a run is taken, runs and ends, and each state can be read") {
  web_fixture f;
  auto made = f.post("/v1/runs", {{"prompt", "find out"}, {"session", "s1"}});
  CHECK(made.status == 201);
  const auto id = made.json()["id"].get<std::string>();
  CHECK(id.starts_with("run-"));
  CHECK(id.size() == 16);
  CHECK(made.has("Location: /v1/runs/" + id + "\r\n"));
  CHECK(made.json()["state"] == "queued");
  auto run = f.engine.run(0);
  CHECK(run.request.session == session_id{"s1"});
  CHECK(run.request.answerable);
  CHECK(run.request.message->text() == "find out");
  CHECK(run.request.root->name == "root");
  run.feed->begin(run_id{"s1/r1"}, 1);
  CHECK(f.get("/v1/runs/" + id).json()["state"] == "running");
  f.engine.begin("s1");
  f.engine.publish("s1", {question_body{call_id{"c0-0-0"}, "Which?", nullptr, "agent"}});
  CHECK(f.get("/v1/runs/s1%2Fr1").json()["state"] == "needs_input");
  run.feed->finish(outcome::make_completed("found; api_key=sk-abcdefghijklmnop1234"));
  auto ended = f.get("/v1/runs/" + id).json();
  CHECK(ended["state"] == "completed");
  CHECK(ended["outcome"]["status"] == "completed");
  CHECK(ended["outcome"]["text"].get<std::string>().find("abcdefgh") == std::string::npos);
  CHECK(ended["ended_at"].get<std::int64_t>() >= ended["started_at"].get<std::int64_t>());
  CHECK(f.get("/v1/runs").json()["runs"].size() == 1);
  CHECK(f.get("/v1/runs/run-none").status == 404);
  CHECK(f.post("/v1/runs/" + id + "/steer", {{"text", "x"}}).status == 409);
}

TEST_CASE("wait gives the end, or the run as it is after the time") {
  web_fixture f;
  std::thread player{[&] { f.engine.run(0).feed->finish(outcome::make_completed("done")); }};
  auto r = f.post("/v1/runs?wait=60", {{"prompt", "x"}});
  player.join();
  CHECK(r.status == 201);
  CHECK(r.json()["outcome"]["text"] == "done");
  CHECK(f.post("/v1/runs?wait=61", {{"prompt", "x"}}).status == 400);
  CHECK(f.post("/v1/runs?wait=1", {{"prompt", "x"}}).json()["state"] == "queued");
}

TEST_CASE("a run that is refused is told with its reason") {
  web_fixture f;
  std::thread player{
      [&] { f.engine.run(0).feed->finish(outcome::make_failed(errc::busy, "Another run is under way.")); }};
  auto r = f.post("/v1/runs", {{"prompt", "x"}, {"session", "s"}, {"on_busy", "reject"}});
  player.join();
  CHECK(r.status == 409);
  CHECK(r.json()["error"]["code"] == "busy");
}

TEST_CASE("what a request says wrong is told with what would be right") {
  web_fixture f;
  auto message = [&](const json& body) {
    return f.post("/v1/runs", body).json()["error"]["message"].get<std::string>();
  };
  CHECK(f.post("/v1/runs", {{"prompt", ""}}).status == 400);
  CHECK(message({{"agent", "root"}}).starts_with("'prompt'"));
  CHECK(message({{"prompt", 5}}) == "'prompt' must be a text.");
  CHECK(message({{"prompt", "x"}, {"sesion", "s"}}).starts_with("'sesion'"));
  CHECK(message({{"prompt", "x"}, {"session", "a b"}}).starts_with("'session'"));
  CHECK(f.post("/v1/runs", {{"prompt", "x"}, {"agent", "nobody"}}).status == 404);
  CHECK(f.post("/v1/runs", {{"prompt", "x"}, {"on_busy", "never"}}).status == 400);
  CHECK(f.engine.runs() == 0);
}

TEST_CASE("steering, answering and cancelling reach the engine, by run and by session") {
  web_fixture f;
  const auto id = f.post("/v1/runs", {{"prompt", "x"}, {"session", "s"}}).json()["id"].get<std::string>();
  CHECK(f.post("/v1/runs/" + id + "/steer", {{"text", "left"}}).status == 202);
  CHECK(f.post("/v1/sessions/s/steer", {{"text", "right"}, {"agent", 2}}).status == 202);
  REQUIRE(f.engine.hints().size() == 2);
  CHECK(f.engine.hints()[0].text == "left");
  CHECK(f.engine.hints()[1].agent == agent_id{"s/2"});
  CHECK(f.post("/v1/runs/" + id + "/answer", {{"question", "c0-0-0"}, {"value", nullptr}}).status == 200);
  CHECK(f.post("/v1/sessions/s/answer", {{"question", "c0-0-0"}}).status == 400);
  f.engine.run(0).feed->begin(run_id{"s/r1"}, 1);
  CHECK(f.post("/v1/runs/" + id + "/cancel", json::object()).status == 202);
  CHECK(f.ask_raw(f.request("POST", "/v1/sessions/s/cancel")).status == 202);
  CHECK(f.engine.cancelled().size() == 2);
  CHECK(f.post("/v1/sessions/a%20b/steer", {{"text", "x"}}).status == 400);
  CHECK(f.post("/v1/runs/" + id + "/steer", {{"text", "x"}, {"agent", -1}}).status == 400);
}

TEST_CASE("what the engine says goes out with its status") {
  web_fixture f;
  f.engine.control = error{errc::not_found, "There is no such question."};
  CHECK(f.post("/v1/sessions/s/answer", {{"question", "q"}, {"value", 1}}).status == 404);
}

TEST_CASE("an engine that says nothing is waited for so long only, and its late word goes nowhere") {
  http_server_options o;
  o.limits.answer_time = 50ms;
  web_fixture f{std::move(o)};
  f.engine.keeps_quiet = true;
  CHECK(f.post("/v1/sessions/s/steer", {{"text", "x"}}).status == 503);
  f.server.reset();
}

TEST_CASE("sessions and their events come from the store, masked and by pages") {
  web_fixture f;
  f.engine.begin("s1", "my password=hunter2secret");
  f.engine.publish("s1", texts(5, "<script>alert(1)</script>\x1b[2J"));
  auto all = f.get("/v1/sessions").json()["sessions"];
  REQUIRE(all.size() == 1);
  CHECK(all[0]["session"] == "s1");
  CHECK(all[0]["last_seq"] == 7);
  auto one = f.get("/v1/sessions/s1").json();
  CHECK(one["live"]["session"] == "s1");
  CHECK(one["live"]["prompt"].get<std::string>().find("hunter2") == std::string::npos);
  auto page = f.get("/v1/sessions/s1/events?after=1&limit=3");
  CHECK(page.body.find("hunter2") == std::string::npos);
  CHECK(page.body.find('\x1b') == std::string::npos);
  auto events = page.json();
  REQUIRE(events["events"].size() == 3);
  CHECK(events["events"][0]["seq"] == 2);
  CHECK(events["more"] == true);
  CHECK(events["last_seq"] == 7);
  CHECK(f.get("/v1/sessions/s1/events?after=7").json()["events"].empty());
  CHECK(f.get("/v1/sessions/none").status == 404);
  CHECK(f.get("/v1/sessions/none/events").status == 404);
  CHECK(f.get("/v1/sessions/s1/events?limit=0").status == 400);
  CHECK(f.get("/v1/sessions/s1/events?limit=1001").status == 400);
  CHECK(f.get("/v1/sessions/s1/events?after=-1").status == 400);
}

TEST_CASE("cancelling a run that waits behind another leaves the other alone") {
  web_fixture f;
  (void)f.post("/v1/runs", {{"prompt", "first"}, {"session", "s"}});
  const auto id =
      f.post("/v1/runs", {{"prompt", "second"}, {"session", "s"}}).json()["id"].get<std::string>();
  f.engine.run(0).feed->begin(run_id{"s/r1"}, 1);
  CHECK(f.post("/v1/runs/" + id + "/cancel", json::object()).status == 202);
  CHECK(f.engine.cancelled().empty());
  CHECK(f.engine.run(1).feed->result()->cancelled());
  CHECK(f.get("/v1/runs/" + id).json()["state"] == "cancelled");
  CHECK(f.get("/v1/runs/s%2Fr1").json()["state"] == "running");
}

TEST_CASE("a session is resumed with the agent that it belongs to") {
  web_fixture f;
  f.engine.begin("s1");
  std::thread player{[&] {
    auto feed = f.engine.run(0).feed;
    feed->begin(run_id{"s1/r1"}, 3);
    feed->push(make_batch(session_id{"s1"}, 3, 0, texts(1)));
  }};
  auto r = f.ask_raw(f.request("POST", "/v1/sessions/s1/resume"));
  player.join();
  CHECK(r.status == 201);
  CHECK(f.engine.run(0).request.message == nullptr);
  CHECK(f.ask_raw(f.request("POST", "/v1/sessions/none/resume")).status == 404);
}

TEST_CASE("agents, models and the live tree") {
  http_server_options o;
  o.models = [] { return std::map<std::string, std::string>{{"fast", "quick"}}; };
  web_fixture f{std::move(o)};
  auto agents = f.get("/v1/agents").json()["agents"];
  REQUIRE(agents.size() == 1);
  CHECK(agents[0]["name"] == "root");
  CHECK(agents[0]["description"] == "Finds <b>things</b> out.");
  auto models = f.get("/v1/models").json()["models"];
  CHECK(models[0]["id"] == "fast");
  CHECK(models[0]["description"] == "quick");
  f.engine.begin("s1");
  auto all = f.get("/v1/snapshot").json();
  CHECK(all["sessions"][0]["session"] == "s1");
  CHECK_FALSE(all.contains("agents"));
  auto one = f.get("/v1/snapshot?session=s1&agent=0").json();
  CHECK(one["agents"][0]["number"] == 0);
  CHECK(f.get("/v1/snapshot?agent=0").status == 400);
  for (agent_number child = 1; child <= 5; ++child)
    f.engine.publish("s1", {agent_started_body{"child", "spawned", "fast", 0, false}}, child);
  CHECK(f.get("/v1/sessions/s1").json()["live"]["agents"]["thinking"] == 6); // however many agents it has
  CHECK(f.get("/v1/snapshot?session=a%2Fb").status == 400);
}

TEST_CASE("health, readiness, metrics, description") {
  http_server_options o;
  o.metrics = [] { return std::string{"# HELP x\nx 1\n"}; };
  web_fixture f{std::move(o)};
  CHECK(f.get("/healthz").body == "ok");
  CHECK(f.get("/readyz").status == 200);
  CHECK(f.get("/metrics").body == "# HELP x\nx 1\n");
  CHECK(f.get("/metrics").has("Content-Type: text/plain; version=0.0.4"));
  auto description = f.get("/openapi.json").json();
  CHECK(description["info"]["version"] == "1.2.3");
  CHECK(description["paths"]["/v1/runs/{id}/steer"]["post"]["operationId"] == "steerRun");
  f.server->drain();
  CHECK(f.get("/readyz").status == 503);
  CHECK(f.get("/healthz").status == 200);
  CHECK(f.post("/v1/runs", {{"prompt", "x"}}).status == 503);
  CHECK(web_fixture{}.get("/metrics").status == 404);
}

TEST_CASE("every reference in the description leads to a schema") {
  auto document = json::parse(openapi_text("1"));
  std::size_t count = 0;
  const auto flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (!pointer.ends_with("/$ref"))
      continue;
    ++count;
    const auto target = value.get<std::string>();
    CAPTURE(target);
    CHECK(document.contains(json::json_pointer{target.substr(1)}));
  }
  CHECK(count > 40);
}

TEST_CASE("background work that wakes a session enters the list of runs") {
  web_fixture f;
  static_cast<void>(f.post("/v1/runs", {{"prompt", "x"}, {"session", "s"}}));
  auto run = f.engine.run(0);
  auto feed = std::make_shared<run_feed>(session_id{"s"}, f.engine.store());
  run.request.on_woken_run(feed);
  auto runs = f.get("/v1/runs").json()["runs"];
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["woken"] == true);
  feed->finish(outcome::make_cancelled("user"));
  CHECK(f.get("/v1/runs").json()["runs"][0]["state"] == "cancelled");
}

TEST_CASE("runs have bounds: those that go on and those that ended") {
  http_server_options o;
  o.limits.max_live_runs = 2;
  o.limits.keep_ended_runs = 2;
  web_fixture f{std::move(o)};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(f.post("/v1/runs", {{"prompt", "x"}}).status == 201);
    f.engine.run(i).feed->finish(outcome::make_completed("ok"));
  }
  CHECK(f.get("/v1/runs").json()["runs"].size() == 2);
  CHECK(f.post("/v1/runs", {{"prompt", "x"}}).status == 201);
  CHECK(f.post("/v1/runs", {{"prompt", "x"}}).status == 201);
  CHECK(f.post("/v1/runs", {{"prompt", "x"}}).status == 503);
  CHECK(f.server->counts().live_runs == 2);
}

TEST_CASE("files of the page need no token, and only its own names lead to them") {
  const std::string page = "\x1f\x8b";
  static_file file{"/index.html", "text/html; charset=utf-8", "e1", std::as_bytes(std::span{page.data(), 2}),
                   false};
  http_server_options o;
  o.token = "0123456789abcdef";
  o.files = [&](std::string_view path) { return path == "/" || path == "/index.html" ? &file : nullptr; };
  web_fixture f{std::move(o)};
  auto r = f.get("/", "Accept-Encoding: gzip\r\n");
  CHECK(r.status == 200);
  CHECK(r.has("Content-Security-Policy: default-src 'self'"));
  CHECK(r.has("Content-Type: text/html"));
  CHECK(f.get("/index.html", "If-None-Match: \"e1\"\r\n").status == 304);
  CHECK(f.get("/other.html").status == 404);
  CHECK(f.post("/index.html", json::object()).status == 405);
}
