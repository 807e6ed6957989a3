// Moments between two states: hints before a run is taken up, crashes between a launch and its result, cancellation of
// all, a session that is taken up in the moment in which it is suspended.
#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

root_spec spawning_root() {
  auto spec = root();
  spec.tools = {"request_input"};
  spec.spawn = spawn_config{};
  return spec;
}

part background(const std::string& name) {
  return call_of("spawn_subagent", R"({"name":")" + name + R"(","goal":"work","background":true})");
}

run_request answerable() {
  run_request options;
  options.answerable = true;
  return options;
}

std::size_t starts_of_root(actor_fixture& f) {
  std::size_t n = 0;
  for (const auto& e : f.log())
    n += e.kind() == event_kind::agent_started && e.origin->number == 0 ? 1 : 0;
  return n;
}

} // namespace

TEST_CASE("a run that a background result sets in motion passes the hook before agents") {
  auto spec = spawning_root();
  int seen = 0;
  hooks h;
  h.before_agent = [&seen](const hook_context&, content&) { ++seen; };
  spec.before_and_after = std::make_shared<const hooks>(h);
  actor_fixture f;
  f.start(build(spec));
  f.answer("root", answer({background("digger")}));
  f.answer("root", answer({text_of("launched")}));
  f.answer("digger", answer({text_of("gold")}));
  f.answer("root", answer({text_of("thanks")}));
  CHECK(seen == 2); // the root's first run and the child; the woken run has no message to change
  CHECK(f.is_quiet());
}

TEST_CASE("a hint to a session whose run is not yet taken up is kept, and spoils nothing") {
  for (const bool journal : {false, true}) {
    CAPTURE(journal);
    actor_fixture f{1000, journal};
    f.start(build(spawning_root()), "go", answerable());
    f.answer("root", answer({call_of("request_input", R"({"message":"which?"})")}));
    f.restart();
    status kept = error{errc::internal, "not told"};
    caf::anon_send(f.sessions, actors::steer_agents{f.session, {}, "mind this", "user", [&](status s) {
                                                      kept = std::move(s);
                                                    }});
    f.run();
    CHECK(kept.has_value());
    auto options = answerable();
    options.answers = {{call_id{"c0-0-0"}, "red"}};
    auto feed = f.resume(build(spawning_root()), options);
    auto call = f.model->waiting("root");
    REQUIRE(call != nullptr);
    CHECK(call->request->contents.back()->text().find("mind this") != std::string::npos);
    f.answer("root", answer({text_of("done")}));
    REQUIRE(feed->result().has_value());
    CHECK(feed->result()->text() == "done");
    std::map<std::string, int> ids;
    for (const auto& e : f.log())
      CHECK(++ids[e.id()] == 1);
  }
}

TEST_CASE("a result that is delivered before the call of its task has its own is not delivered again") {
  session_fold fold;
  auto origin = std::make_shared<event_origin>();
  origin->session = session_id{"s"};
  origin->run = make_run_id(origin->session, 1);
  origin->agent = make_agent_id(origin->session, 0);
  origin->author = "root";
  std::uint64_t seq = 0;
  auto add = [&](event_body body) {
    event e;
    e.seq = ++seq;
    e.index = static_cast<std::uint32_t>(seq);
    e.origin = origin;
    e.body = std::move(body);
    fold.add(e);
  };
  const call_id task{"c0-0-0"};
  add(agent_started_body{"root", "root", "fast", 0, false});
  add(user_message_body{say("go")});
  add(tool_call_body{0, task, "spawn_subagent", R"({"name":"x","goal":"g","background":true})", {}});
  add(background_result_body{task, "x", outcome::make_completed("gold")});
  add(tool_result_body{task, "spawn_subagent", R"({"status":"running"})", false, {}});
  CHECK(fold.session().tasks.empty());
}

TEST_CASE("cancelling everything sets no new run in motion; the next message has the results") {
  actor_fixture f;
  f.start(build(spawning_root()));
  f.answer("root", answer({background("digger")}));
  f.answer("root", answer({text_of("launched")}));
  f.cancel({}, true);
  CHECK(f.model->waiting("root") == nullptr);
  CHECK(f.is_quiet());
  f.start(build(spawning_root()), "and now?");
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(call->request->contents.back()->text().find("cancelled") != std::string::npos);
}

TEST_CASE("a message to a session that waits for an answer is not left hanging when nobody can answer") {
  actor_fixture f;
  auto options = answerable();
  options.suspend_on_question = true;
  f.start(build(spawning_root()), "go", options);
  f.answer("root", answer({call_of("request_input", R"({"message":"which?"})")}));
  auto next = f.start(build(spawning_root()), "another", options);
  REQUIRE(next->result().has_value());
  CHECK(next->result()->code() == errc::needs_input);
  CHECK(f.events<question_body>().size() == 1);
}

TEST_CASE("a session is taken up in the moment in which it is suspended") {
  for (const bool journal : {false, true}) {
    CAPTURE(journal);
    actor_fixture f{1000, journal};
    f.start(build(spawning_root()), "go", answerable());
    bool suspended = false;
    caf::anon_send(f.sessions, actors::suspend_session{f.session, [&suspended] { suspended = true; }});
    // Nothing has run since: the request comes right behind.
    auto feed = f.resume(build(spawning_root()), answerable());
    CHECK(suspended);
    f.answer("root", answer({text_of("done")}));
    REQUIRE(feed->result().has_value());
    CHECK(feed->result()->text() == "done");
    CHECK(starts_of_root(f) == 1);
  }
}

TEST_CASE("an answer that a crash of the root swallowed can be given again") {
  actor_fixture f;
  auto feed = f.start(build(spawning_root()), "go", answerable());
  f.answer("root", answer({call_of("request_input", R"({"message":"which?"})")}));
  f.model->crashes["root"] = 1;
  int told = 0;
  auto give = [&] {
    caf::anon_send(f.sessions, actors::answer_question{f.session, call_id{"c0-0-0"}, "red", "user",
                                                       [&](const status&) { ++told; }});
    f.run();
  };
  give(); // the model call that follows throws, and the root is built anew
  CHECK(told == 1);
  f.answer("root", answer({text_of("done")}));
  CHECK(feed->result()->completed());
  CHECK(f.events<answer_body>().size() == 1);
}

TEST_CASE("work that is not yet taken up is listed, and says that it has to be resumed first") {
  actor_fixture f;
  f.start(build(spawning_root()));
  f.answer("root", answer({background("digger")}));
  f.answer("root", answer({text_of("launched")}));
  f.restart();
  auto list = f.tasks();
  REQUIRE(list.size() == 1);
  CHECK(list[0].name == "digger");
  CHECK(list[0].status == task_status::running);
  std::optional<error> refused;
  caf::anon_send(f.sessions, actors::query_tasks{f.session, call_id{"c0-0-0"}, "user",
                                                 [&](const result<std::vector<background_task>>& r) {
                                                   if (!r)
                                                     refused = r.failure();
                                                 }});
  f.run();
  REQUIRE(refused.has_value());
  CHECK(refused->code == errc::interrupted);
}

TEST_CASE("sessions without work leave memory when there are too many") {
  actor_fixture f{1000, false, 2};
  for (int i = 0; i < 5; ++i) {
    f.session = session_id{"s" + std::to_string(i)};
    auto feed = f.start(build(root()));
    f.answer("root", answer({text_of("done")}));
    CHECK(feed->result()->completed());
  }
  // The first was let go, and goes on from the store.
  f.session = session_id{"s0"};
  f.start(build(root()), "again");
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(call->request->contents.size() == 3);
}
