// Fire-and-forget children: launch, delivery, waking, queueing, cancellation.
#include <algorithm>
#include <set>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

agent_profile_ptr spawner() {
  auto spec = root();
  spec.spawn = spawn_config{};
  return build(spec);
}

part background(const std::string& name) {
  return call_of("spawn_subagent", R"({"name":")" + name + R"(","goal":"work","background":true})");
}

std::string last_text(const model_request& request) {
  return request.contents.back()->text();
}

// Launches `names` and ends the root's run with "launched".
std::shared_ptr<run_feed> launch(actor_fixture& f, const std::vector<std::string>& names,
                                 run_request options = {}) {
  auto feed = f.start(spawner(), "go", std::move(options));
  std::vector<part> calls;
  for (const auto& name : names)
    calls.push_back(background(name));
  f.answer("root", answer(std::move(calls)));
  f.answer("root", answer({text_of("launched")}));
  return feed;
}

std::size_t ends_of(actor_fixture& f, const std::string& name) {
  const auto log = f.log();
  return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [&name](const event& e) {
    return e.kind() == event_kind::agent_ended && e.author() == name;
  }));
}

} // namespace

TEST_CASE("a background call has its result at once, and the child works on after the run") {
  actor_fixture f;
  auto feed = launch(f, {"digger"});
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->text() == "launched");
  auto results = f.events<tool_result_body>();
  REQUIRE(results.size() == 1);
  auto told = nlohmann::json::parse(results.front().text);
  CHECK(told["status"] == "running");
  CHECK(told["task_id"] == "c0-0-0");
  CHECK_FALSE(told.contains("queued"));
  auto list = f.tasks();
  REQUIRE(list.size() == 1);
  CHECK(list.front().status == task_status::running);
  CHECK_FALSE(f.is_quiet());
}

TEST_CASE("a result that comes between runs wakes the root, once, with its own run") {
  actor_fixture f;
  std::shared_ptr<run_feed> woken;
  run_request options;
  options.on_woken_run = [&woken](std::shared_ptr<run_feed> feed) { woken = std::move(feed); };
  launch(f, {"digger"}, options);
  f.answer("digger", answer({text_of("gold")}));
  REQUIRE(woken != nullptr);
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(last_text(*call->request).find("gold") != std::string::npos);
  CHECK(last_text(*call->request).find("c0-0-0") != std::string::npos);
  f.answer("root", answer({text_of("thanks")}));
  REQUIRE(woken->result().has_value());
  CHECK(woken->result()->text() == "thanks");
  CHECK(f.events<background_result_body>().size() == 1);
  CHECK(f.is_quiet());
  CHECK(f.tasks().front().delivered);
}

TEST_CASE("a result that comes while the root works is in its next model call") {
  actor_fixture f;
  auto feed = f.start(spawner());
  f.answer("root", answer({background("digger")}));
  f.answer("digger", answer({text_of("gold")}));
  f.answer("root", answer({text_of("nothing yet")}));
  CHECK_FALSE(feed->result().has_value());
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(last_text(*call->request).find("gold") != std::string::npos);
  f.answer("root", answer({text_of("found gold")}));
  CHECK(feed->result()->text() == "found gold");
  CHECK(f.is_quiet());
}

TEST_CASE("where results wait for the next run they wake nobody and stand in it") {
  actor_fixture f;
  run_request options;
  options.background = on_background_result::next_run;
  launch(f, {"digger"}, options);
  f.answer("digger", answer({text_of("gold")}));
  CHECK(f.model->waiting("root") == nullptr);
  CHECK(f.is_quiet());
  auto next = f.start(spawner(), "and now?", options);
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(last_text(*call->request).find("gold") != std::string::npos);
  f.answer("root", answer({text_of("gold it is")}));
  CHECK(next->result()->completed());
}

TEST_CASE("more than max_background wait for their turn and say so") {
  actor_fixture f;
  run_request options;
  options.limits.max_background = 1;
  launch(f, {"first", "second"}, options);
  auto results = f.events<tool_result_body>();
  REQUIRE(results.size() == 2);
  CHECK(nlohmann::json::parse(results[1].text)["queued"] == true);
  CHECK(f.tasks()[1].status == task_status::queued);
  CHECK(f.model->waiting("second") == nullptr);
  f.answer("first", answer({text_of("1")}));
  CHECK(f.model->waiting("second") != nullptr);
}

TEST_CASE("a task that waits is cancelled with a record of its own") {
  actor_fixture f;
  run_request options;
  options.limits.max_background = 1;
  options.background = on_background_result::next_run;
  launch(f, {"first", "second"}, options);
  auto list = f.tasks(call_id{"c0-0-1"});
  CHECK(list[1].status == task_status::cancelled);
  CHECK(ends_of(f, "second") == 1);
  f.answer("first", answer({text_of("1")}));
  CHECK(ends_of(f, "second") == 1);
  CHECK(f.events<background_result_body>().size() == 2);
  CHECK(f.is_quiet());
}

TEST_CASE("run.cancel leaves background work, and cancelling the session ends it") {
  actor_fixture f;
  launch(f, {"digger"});
  f.cancel();
  CHECK(f.tasks().front().status == task_status::running);
  f.cancel({}, true);
  CHECK(f.tasks().front().status == task_status::cancelled);
}

TEST_CASE(
    "100 children that end in one burst while the root is in mid turn are told once each, cancelled or not") {
  actor_fixture f;
  run_request options;
  options.limits.max_background = 100;
  std::vector<part> calls;
  for (int i = 0; i < 100; ++i)
    calls.push_back(background("w" + std::to_string(i)));
  auto feed = f.start(spawner(), "go", options);
  f.answer("root", answer(std::move(calls)));
  // All answers and 50 cancellations are in the mailboxes before any agent runs.
  for (int i = 0; i < 100; ++i) {
    auto call = f.model->waiting("w" + std::to_string(i));
    REQUIRE(call != nullptr);
    auto sink = call->sink;
    const auto cancel = [&] {
      caf::anon_send(f.sessions,
                     actors::cancel_agents{
                         f.session, make_agent_id(f.session, static_cast<agent_number>(i + 1)), "user"});
    };
    if (i % 4 == 0)
      cancel();
    sink->on_done(answer({text_of("r" + std::to_string(i))}));
    if (i % 4 == 2)
      cancel();
  }
  f.run();
  std::map<std::string, int> ends;
  std::map<std::string, int> told;
  std::map<std::string, outcome> ended;
  std::uint64_t seq = 0;
  for (const auto& e : f.log()) {
    CHECK(e.seq == ++seq);
    if (const auto* end = e.as<agent_ended_body>(); end != nullptr && e.origin->number != 0) {
      ++ends[e.origin->parent_call.str()];
      ended[e.origin->parent_call.str()] = end->outcome;
    }
    if (const auto* result = e.as<background_result_body>()) {
      CHECK(e.origin->number == 0);
      CHECK(ends[result->task.str()] == 1);
      CHECK(result->outcome == ended[result->task.str()]);
      ++told[result->task.str()];
    }
  }
  CHECK(ends.size() == 100);
  CHECK(told.size() == 100);
  for (const auto& [task, times] : told)
    CHECK(times == 1);
  for (const auto& [task, times] : ends)
    CHECK(times == 1);
  // Results that came in mid turn are taken in one more turn.
  f.answer("root", answer({text_of("first word")}));
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(last_text(*call->request).find("c0-0-99") != std::string::npos);
  f.answer("root", answer({text_of("all in")}));
  CHECK(feed->result()->text() == "all in");
  CHECK(f.is_quiet());
}

TEST_CASE("woken runs in a row are bounded; what comes later waits for the next message") {
  actor_fixture f;
  run_request options;
  options.limits.max_wakes = 1;
  launch(f, {"first", "second"}, options);
  f.answer("first", answer({text_of("1")}));
  f.answer("root", answer({text_of("one")}));
  f.answer("second", answer({text_of("2")}));
  CHECK(f.model->waiting("root") == nullptr);
  CHECK(f.is_quiet());
  CHECK(f.events<warning_body>().size() == 1);
  f.start(spawner(), "more?", options);
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(last_text(*call->request).find(">\n2\n<") != std::string::npos);
}

TEST_CASE("list_background and cancel_background tell the root what there is") {
  actor_fixture f;
  auto feed = f.start(spawner());
  f.answer("root", answer({background("digger")}));
  f.answer("root",
           answer({call_of("list_background"), call_of("cancel_background", R"({"task_id":"c0-0-0"})"),
                   call_of("cancel_background", R"({"task_id":"c9-9-9"})")}));
  auto results = f.events<tool_result_body>();
  REQUIRE(results.size() == 4);
  std::map<std::string, tool_result_body> by_call;
  for (const auto& r : results)
    by_call[r.call.str()] = r;
  CHECK(nlohmann::json::parse(by_call["c0-1-0"].text)[0]["status"] == "running");
  CHECK(nlohmann::json::parse(by_call["c0-1-1"].text)["status"] == "cancelling");
  CHECK(by_call["c0-1-2"].code == errc::not_found);
  f.answer("root", answer({text_of("done")}));
  if (!feed->result())
    f.answer("root", answer({text_of("done")}));
  CHECK(f.tasks().front().status == task_status::cancelled);
}

TEST_CASE("a background child that crashes is a failed result and nothing more") {
  actor_fixture f;
  f.model->crashes["digger"] = 1;
  launch(f, {"digger"});
  auto results = f.events<background_result_body>();
  REQUIRE(results.size() == 1);
  CHECK(results.front().outcome.code() == errc::crashed);
}

TEST_CASE("the root that crashes in mid run gets each background result once") {
  actor_fixture f;
  auto feed = f.start(spawner());
  f.answer("root", answer({background("digger"), background("other")}));
  f.model->crashes["root"] = 1;
  auto first = f.model->waiting("digger")->sink;
  auto second = f.model->waiting("other")->sink;
  auto call = f.model->waiting("root")->sink;
  first->on_done(answer({text_of("gold")}));
  call->on_done(answer({text_of("so far")})); // its next model call throws
  second->on_done(answer({text_of("silver")}));
  f.run();
  f.answer("root", answer({text_of("end")}));
  if (!feed->result())
    f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->completed());
  CHECK(f.events<background_result_body>().size() == 2);
  CHECK(f.is_quiet());
}
