// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

root_spec fan_out() {
  auto spec = root();
  spec.spawn = spawn_config{};
  spec.subagents = {{.name = "helper", .goal = "Help."}};
  return spec;
}

part spawn(const std::string& name) {
  return call_of("spawn_subagent", R"({"name":")" + name + R"(","goal":"g"})");
}

std::vector<part> spawn_many(int count) {
  std::vector<part> calls;
  for (int i = 0; i < count; ++i)
    calls.push_back(spawn("child_" + std::to_string(i)));
  return calls;
}

// Until the first child's call waits: others may not have been started then.
void begin_fan_out(actor_fixture& f, int count) {
  auto sink = f.model->waiting("root")->sink;
  sink->on_done(answer(spawn_many(count)));
  while (f.model->waiting("child_0") == nullptr)
    REQUIRE(f.coordinator().try_run_once());
}

void dense(const std::vector<event>& log) {
  for (std::size_t i = 0; i < log.size(); ++i)
    CHECK(log[i].seq == i + 1);
}

} // namespace

TEST_CASE("one run with one child: its events stand in the session under its name and branch") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  f.answer("root", answer({call_of("helper", R"({"request":"do"})")}));
  f.answer("helper", answer({text_of("done")}));
  f.answer("root", answer({text_of("all done")}));
  auto result = feed->result();
  REQUIRE(result.has_value());
  CHECK(result->completed());
  CHECK(result->text() == "all done");
  auto log = f.log();
  dense(log);
  auto child = std::find_if(log.begin(), log.end(), [](const event& e) { return e.author() == "helper"; });
  REQUIRE(child != log.end());
  CHECK(child->branch() == "root.helper@c0-0-0");
  CHECK(child->agent() == agent_id{"s/1"});
  CHECK(child->origin->parent_call == call_id{"c0-0-0"});
  CHECK(f.events<tool_result_body>().at(0).text == "done");
}

TEST_CASE("a child sees only its own branch, and the root only its result") {
  actor_fixture f;
  f.start(build(fan_out()), "secret of the root");
  f.answer("root", answer({call_of("helper", R"({"request":"the request"})")}));
  auto call = f.model->waiting("helper");
  REQUIRE(call != nullptr);
  REQUIRE(call->request->contents.size() == 1);
  CHECK(call->request->contents[0]->text() == "the request");
  f.answer("helper", answer({text_of("inner thought")}));
  auto back = f.model->waiting("root");
  REQUIRE(back->request->contents.size() == 3);
  CHECK(std::get<tool_result_part>(back->request->contents[2]->parts[0].value).text == "inner thought");
}

TEST_CASE("children run in parallel, and results stand in call order whatever the order of their ends") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  f.answer("root", answer({spawn("a"), spawn("b"), spawn("c")}));
  for (const auto* name : {"a", "b", "c"})
    REQUIRE(f.model->waiting(name) != nullptr);
  for (const auto* name : {"c", "a", "b"})
    f.answer(name, answer({text_of(std::string{"I am "} + name)}));
  auto back = f.model->waiting("root");
  REQUIRE(back != nullptr);
  const auto& parts = back->request->contents[2]->parts;
  REQUIRE(parts.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    auto j = nlohmann::json::parse(std::get<tool_result_part>(parts[i].value).text);
    CHECK(j["name"] == std::string(1, static_cast<char>('a' + i)));
  }
  f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("of many children of one turn the first are under way before the last are started, and none is "
          "left out") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  const auto others = f.system.registry().running();
  std::size_t most = 0; // children that had been started and not yet called their model
  f.model->on_call = [&, called = std::size_t{0}]() mutable {
    most = std::max(most, f.system.registry().running() - others - called++);
  };
  f.answer("root", answer(spawn_many(500)));
  CHECK(f.model->calls.size() == 501);
  CHECK(most >= 8);
  CHECK(most <= 32);
  for (int i = 0; i < 500; ++i)
    CHECK(f.model->calls.at(static_cast<std::size_t>(i) + 1)->request->agent == "child_" + std::to_string(i));
}

TEST_CASE("a deadline that comes while children are being started ends all of them") {
  actor_fixture f;
  auto spec = fan_out();
  spec.limits.timeout = 1min;
  f.start(build(spec));
  begin_fan_out(f, 500);
  REQUIRE(f.model->waiting("child_499") == nullptr);
  f.advance(1min);
  for (int i = 0; i < 500; ++i)
    CHECK(f.model->waiting("child_" + std::to_string(i)) == nullptr);
  CHECK(f.model->waiting("root") != nullptr); // its grace call
  CHECK(f.events<tool_result_body>().size() == 500);
}

TEST_CASE("a run that is cancelled while children are being started leaves none") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  const auto before = f.system.registry().running();
  begin_fan_out(f, 500);
  f.cancel();
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::cancelled);
  CHECK(f.system.registry().running() == before);
  CHECK(f.events<agent_started_body>().size() == f.events<agent_ended_body>().size());
}

TEST_CASE("children that crash before they have told anything make room for others") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  const auto newest = f.system.latest_actor_id();
  f.model->waiting("root")->sink->on_done(answer(spawn_many(500)));
  do {
    const auto& jobs = f.coordinator().jobs;
    const auto* next = jobs.empty() ? nullptr : dynamic_cast<const caf::abstract_actor*>(jobs.front());
    f.clock_is_broken = next != nullptr && next->id() > newest;
  } while (f.coordinator().try_run_once());
  CHECK(f.events<tool_result_body>().size() == 500);
  f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("a thousand children in one turn: none is lost, and the observer's counts equal the log") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  f.answer("root", answer(spawn_many(1000)));
  for (int i = 999; i >= 0; --i)
    f.answer("child_" + std::to_string(i), answer({text_of(std::to_string(i))}));
  f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->completed());
  auto log = f.log();
  dense(log);
  activity_counts expected;
  for (const auto& e : log)
    expected.add(e);
  CHECK(f.snapshot().totals == expected);
  CHECK(expected.completed == 1001);
  std::set<std::string> agents;
  for (const auto& e : log)
    agents.insert(e.agent().str());
  CHECK(agents.size() == 1001);
}

TEST_CASE("a child whose model fails is a failed result; its siblings and the root go on") {
  actor_fixture f;
  auto feed = f.start(build(fan_out()));
  f.answer("root", answer({spawn("good"), spawn("bad")}));
  f.fail("bad", {errc::model_auth, "401", false, {}});
  f.answer("good", answer({text_of("fine")}));
  auto r = f.events<tool_result_body>();
  REQUIRE(r.size() == 2);
  CHECK(std::count_if(r.begin(), r.end(), [](const auto& b) { return b.code == errc::model_auth; }) == 1);
  f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("a child that crashes is a failed result for its parent, and its siblings go on") {
  actor_fixture f;
  f.model->crashes = {{"bad", 1}};
  auto feed = f.start(build(fan_out()));
  f.answer("root", answer({spawn("good"), spawn("bad")}));
  f.answer("good", answer({text_of("fine")}));
  auto r = f.events<tool_result_body>();
  REQUIRE(r.size() == 2);
  CHECK(r[0].code == errc::crashed);
  CHECK(r[0].text.find("the provider broke") != std::string::npos);
  auto log = f.log();
  dense(log);
  auto is_end = [](const event& e) { return e.author() == "bad" && e.kind() == event_kind::agent_ended; };
  CHECK(std::count_if(log.begin(), log.end(), is_end) == 1);
  f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("a root that crashes is rebuilt from the log and takes the results that came meanwhile") {
  actor_fixture f;
  f.start(build(fan_out()));
  f.answer("root", answer({spawn("a")}));
  f.model->crashes = {{"root", 2}};
  f.answer("a", answer({text_of("result of a")}));
  auto back = f.model->waiting("root");
  REQUIRE(back != nullptr);
  REQUIRE(back->request->contents.size() == 3);
  CHECK(std::get<tool_result_part>(back->request->contents[2]->parts[0].value).text.find("result of a") !=
        std::string::npos);
  CHECK(f.events<tool_result_body>().size() == 1);
}

TEST_CASE("a root that crashes again and again fails the run with crashed") {
  actor_fixture f;
  f.model->crashes = {{"root", 1000}};
  auto feed = f.start(build(fan_out()));
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::crashed);
  CHECK(f.events<agent_ended_body>().size() == 1);
  f.model->crashes.clear();
  auto next = f.start(build(fan_out()), "again");
  f.answer("root", answer({text_of("alive")}));
  CHECK(next->result()->completed());
}

TEST_CASE("the run may start only so many children") {
  actor_fixture f;
  run_request options;
  options.limits.max_children = 2;
  f.start(build(fan_out()), "go", options);
  f.answer("root", answer({spawn("a"), spawn("b"), spawn("c")}));
  auto r = f.events<tool_result_body>();
  REQUIRE(r.size() == 1);
  CHECK(r[0].code == errc::max_children);
  CHECK(r[0].call == call_id{"c0-0-2"});
}
