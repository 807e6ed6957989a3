// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

root_spec fan_out() {
  auto spec = root();
  spec.spawn = spawn_config{};
  spec.limits.timeout = 10min;
  spec.subagents = {{.name = "helper", .goal = "Help.", .limits = {.timeout = 1min, .grace = 10s}}};
  return spec;
}

part helper() {
  return call_of("helper", R"({"request":"do"})");
}

} // namespace

TEST_CASE("a child that never answers ends by its timeout; its grace call is bounded too") {
  actor_fixture f;
  f.start(build(fan_out()));
  f.answer("root", answer({helper()}));
  auto first = f.model->waiting("helper");
  REQUIRE(first != nullptr);
  f.advance(59s);
  CHECK(first->sink != nullptr);
  f.advance(2s);
  CHECK(first->sink == nullptr); // the call was cancelled
  auto grace = f.model->waiting("helper");
  REQUIRE(grace != nullptr);
  CHECK(grace->request->head->tools.empty());
  SUBCASE("the grace call answers") {
    f.answer("helper", answer({text_of("what I have")}));
    auto j = nlohmann::json::parse(f.events<tool_result_body>().at(0).text);
    CHECK(j["reason"] == "timeout");
    CHECK(j["recovered"] == true);
    CHECK(j["partial"] == "what I have");
  }
  SUBCASE("it does not") {
    f.advance(11s);
    CHECK(grace->sink == nullptr);
    CHECK(f.events<tool_result_body>().at(0).code == errc::timeout);
  }
  CHECK(f.model->waiting("root") != nullptr);
}

TEST_CASE("a root that times out ends its children and then gives what it has") {
  actor_fixture f;
  auto spec = fan_out();
  spec.limits.timeout = 30s;
  auto feed = f.start(build(spec));
  f.answer("root", answer({helper(), helper()}));
  f.advance(31s);
  CHECK(f.model->waiting("helper") == nullptr);
  f.answer("root", answer({text_of("partial report")}));
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::timeout);
  CHECK(feed->result()->recovered());
  CHECK(f.events<tool_result_body>().size() == 2);
  int cancelled = 0;
  for (const auto& e : f.events<agent_ended_body>())
    cancelled += e.outcome.cancelled() ? 1 : 0;
  CHECK(cancelled == 2);
}

TEST_CASE("cancellation goes through the tree and reaches every model call") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  f.answer("root", answer({helper(), helper(), call_of("spawn_subagent", R"({"name":"x","goal":"g"})")}));
  CHECK(f.model->calls.size() == 4);
  f.cancel();
  for (const auto& c : f.model->calls)
    CHECK(c->sink == nullptr);
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->cancelled());
  CHECK(feed->result()->by() == "user");
  CHECK(f.events<tool_result_body>().size() == 3);
}

TEST_CASE("one agent can be cancelled; its parent goes on") {
  actor_fixture f;
  f.start(build(fan_out()));
  f.answer("root", answer({helper(), helper()}));
  f.cancel(agent_id{"s/2"});
  auto r = f.events<tool_result_body>();
  REQUIRE(r.size() == 1);
  CHECK(nlohmann::json::parse(r[0].text)["status"] == "cancelled");
  f.answer("helper", answer({text_of("ok")}));
  CHECK(f.model->waiting("root") != nullptr);
}

TEST_CASE("the token budget holds for the whole tree and ends with a grace call") {
  actor_fixture f;
  run_request options;
  options.limits.budget_tokens = 10'000;
  auto feed = f.start(build(fan_out()), "go", options);
  f.answer("root", answer({helper()}, {9'000, 0, 500, 0}));
  auto grace = f.model->waiting("helper");
  REQUIRE(grace != nullptr);
  CHECK(grace->request->head->tools.empty());
  f.answer("helper", answer({text_of("short")}));
  auto j = nlohmann::json::parse(f.events<tool_result_body>().at(0).text);
  CHECK(j["reason"] == "budget");
  f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->code() == errc::budget);
}

TEST_CASE(
    "a failed model call is tried again with growing waits, or after the time that the service asked for") {
  actor_fixture f;
  auto feed = f.start(build(root()));
  f.fail("root", {errc::model_unavailable, "500", true, {}});
  CHECK(f.model->waiting("root") == nullptr);
  f.advance(500ms);
  REQUIRE(f.model->waiting("root") != nullptr);
  f.fail("root", {errc::model_rate_limited, "429", true, 20s});
  f.advance(19s);
  CHECK(f.model->waiting("root") == nullptr);
  f.advance(4s);
  REQUIRE(f.model->waiting("root") != nullptr);
  f.answer("root", answer({text_of("third time")}));
  CHECK(feed->result()->completed());
  CHECK(f.events<warning_body>().size() == 2);
}

TEST_CASE("retries end") {
  actor_fixture f;
  auto feed = f.start(build(root()));
  for (int i = 0; i < 5; ++i) {
    REQUIRE(f.model->waiting("root") != nullptr);
    f.fail("root", {errc::model_unavailable, "503", true, {}});
    f.advance(1min);
  }
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::model_unavailable);
}

TEST_CASE("places at a model are given fairly over sessions, and a cancelled agent frees its place") {
  actor_fixture f{2};
  f.session = session_id{"many"};
  f.start(build(fan_out()));
  f.answer("root", answer({helper(), helper(), helper(), helper()}));
  CHECK(f.model->calls.size() == 3); // the root's first, then two children
  f.session = session_id{"other"};
  f.start(build(root("solo")));
  CHECK(f.model->waiting("solo") == nullptr);
  f.answer("helper", answer({text_of("one")}));
  f.answer("helper", answer({text_of("two")}));
  CHECK(f.model->waiting("solo") != nullptr);
  f.session = session_id{"many"};
  f.cancel();
  f.session = session_id{"other"};
  f.answer("solo", answer({text_of("done")}));
}

TEST_CASE("a second run of a session waits for the first, or is refused") {
  actor_fixture f;
  auto first = f.start(build(root()), "one");
  auto second = f.start(build(root()), "two");
  run_request options;
  options.busy = on_busy::reject;
  auto third = f.start(build(root()), "three", options);
  CHECK(third->result()->code() == errc::busy);
  f.answer("root", answer({text_of("1")}));
  CHECK(first->result()->text() == "1");
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(call->request->contents.size() == 3); // the conversation goes on
  f.answer("root", answer({text_of("2")}));
  CHECK(second->result()->text() == "2");
}

TEST_CASE("cancelling the root alone leaves the runs that wait") {
  actor_fixture f;
  auto first = f.start(build(root()), "one");
  auto second = f.start(build(root()), "two");
  f.cancel(make_agent_id(f.session, 0));
  REQUIRE(first->result());
  CHECK(first->result()->cancelled());
  CHECK_FALSE(second->result());
  f.answer("root", answer({text_of("2")}));
  REQUIRE(second->result());
  CHECK(second->result()->text() == "2");
}

TEST_CASE("an idle session's actors go, and the session goes on from the store") {
  actor_fixture f;
  f.start(build(root()), "one");
  f.answer("root", answer({text_of("1")}));
  const auto before = f.system.registry().running();
  f.advance(61s);
  CHECK(f.system.registry().running() < before);
  auto feed = f.start(build(root()), "two");
  CHECK(f.model->waiting("root")->request->contents.size() == 3);
  f.answer("root", answer({text_of("2")}));
  CHECK(feed->result()->completed());
  std::uint64_t seq = 0;
  for (const auto& e : f.log())
    CHECK(e.seq == ++seq);
  CHECK(feed->run() == run_id{"s/r2"});
}

TEST_CASE(
    "a hint reaches the root and every running child, and one for a child that is gone goes to the root") {
  actor_fixture f;
  f.start(build(fan_out()));
  f.answer("root", answer({helper(), helper()}));
  int acknowledged = 0;
  auto steer = [&](std::optional<agent_id> agent, std::string text) {
    caf::anon_send(f.sessions, actors::steer_agents{f.session, std::move(agent), std::move(text), "user",
                                                    [&](const status& s) { acknowledged += s ? 1 : 0; }});
    f.run();
  };
  steer({}, "to all");
  CHECK(acknowledged == 1);
  CHECK(f.events<steering_body>().size() == 3);
  f.answer("helper", answer({text_of("one")}));
  CHECK(f.model->waiting("helper") != nullptr); // the hint causes one more turn
  f.answer("helper", answer({text_of("one")}));
  f.answer("helper", answer({text_of("two")}));
  f.answer("helper", answer({text_of("two")}));
  steer(agent_id{"s/1"}, "to the first child");
  CHECK(acknowledged == 2);
  auto hints = f.events<steering_body>();
  CHECK(hints.back().text == "to the first child");
  CHECK(f.log().back().origin->number == 0);
  bool refused = false;
  caf::anon_send(f.sessions, actors::steer_agents{f.session, agent_id{"s/99"}, "x", "user",
                                                  [&](const status& s) { refused = !s; }});
  f.run();
  CHECK(refused);
}

TEST_CASE("at shutdown new work is refused and what runs is cancelled") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  f.answer("root", answer({helper()}));
  caf::scoped_actor self{f.system, true};
  auto pending = self->request(f.sessions, caf::timespan{5s}, actors::drain{});
  f.run();
  bool clean = false;
  pending.receive([&](const actors::drained&) { clean = true; }, [](const caf::error&) {});
  CHECK(clean);
  CHECK(feed->result()->cancelled());
  auto late = f.start(build(root()), "late");
  CHECK(late->result()->code() == errc::shutting_down);
}

TEST_CASE("an open question stops the clocks of the agent and its ancestors, until it is answered") {
  actor_fixture f;
  auto spec = fan_out();
  spec.tools = {make_tool("danger")};
  spec.subagents[0].tools = {"danger"};
  spec.limits.timeout = 2min;
  auto rules = policy::compile({{.tool = "danger", .decision = policy_decision::ask}});
  REQUIRE(rules);
  spec.rules = std::make_shared<const policy>(std::move(*rules));
  run_request options;
  options.answerable = true;
  f.start(build(spec), "go", options);
  f.answer("root", answer({helper(), helper()}));
  f.answer("helper", answer({call_of("danger")}));
  f.answer("helper", answer({call_of("danger")}));
  auto questions = f.events<question_body>();
  REQUIRE(questions.size() == 2);
  f.advance(1h);
  CHECK(f.events<warning_body>().empty());
  std::vector<std::string> replies;
  auto reply = [&](const call_id& question, nlohmann::json value) {
    caf::anon_send(f.sessions, actors::answer_question{f.session, question, std::move(value), "user",
                                                       [&](const status& s) {
                                                         replies.push_back(s ? "ok" : s.failure().message);
                                                       }});
    f.run();
  };
  reply(questions[1].question, "maybe");
  CHECK(replies.back().find("boolean") != std::string::npos);
  reply(questions[1].question, true);
  CHECK(replies.back() == "ok");
  f.advance(50s); // the first child and the root still wait; the second one's clock runs again
  CHECK(f.events<warning_body>().empty());
  reply(questions[0].question, false);
  reply(questions[0].question, false);
  CHECK(replies.back().find("no open question") != std::string::npos);
  f.advance(3min);
  CHECK(f.events<warning_body>().size() >= 2);
}

TEST_CASE("a run that nobody takes ends, so that nobody waits for it for ever") {
  actor_fixture f;
  auto feed = std::make_shared<run_feed>(f.session, f.store);
  caf::anon_send_exit(f.sessions, caf::exit_reason::user_shutdown);
  f.run();
  run_request request;
  request.session = f.session;
  caf::anon_send(f.sessions, actors::start_run{std::make_shared<const run_request>(std::move(request)),
                                               std::make_shared<run_feed_writer>(feed)});
  f.run();
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::crashed);
}

TEST_CASE(
    "when the store fails the run ends with its reason, and the session takes the next run once it works") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  f.answer("root", answer({helper()}));
  f.breakable->broken = true;
  auto waiting = f.start(build(root()), "waits");
  f.answer("helper", answer({text_of("lost")}));
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::store_failed);
  REQUIRE(waiting->result().has_value());
  CHECK(waiting->result()->failed());
  f.breakable->broken = false;
  auto next = f.start(build(fan_out()), "next");
  CHECK_FALSE(next->result().has_value());
  f.answer("helper", answer({text_of("again")}));
  f.answer("root", answer({text_of("the first run goes on to its end")}));
  f.answer("root", answer({text_of("alive")}));
  REQUIRE(next->result().has_value());
  CHECK(next->result()->completed());
  std::map<std::string, int> results;
  int running = 0;
  std::uint64_t seq = 0;
  for (const auto& e : f.log()) {
    CHECK(e.seq == ++seq);
    if (const auto* r = e.as<tool_result_body>())
      ++results[r->call.str()];
    if (e.origin->number == 0)
      running += e.kind() == event_kind::agent_started ? 1 : e.kind() == event_kind::agent_ended ? -1 : 0;
  }
  CHECK(running == 0);
  CHECK(results["c0-0-0"] == 1);
}
