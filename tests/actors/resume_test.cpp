// Sessions that go on after their process is gone, with a store that is written at once and with a journal.
#include <set>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

agent_profile_ptr everything() {
  auto spec = root();
  spec.tools = {make_tool("look"), make_tool("change", "changed", {})};
  spec.subagents = {{.name = "helper", .goal = "Help.", .tools = {"look"}},
                    {.name = "asker", .goal = "Ask.", .mode = agent_mode::task, .tools = {"request_input"}}};
  spec.spawn = spawn_config{};
  return build(spec);
}

part helper() {
  return call_of("helper", R"({"request":"help"})");
}

// The log of a whole run has one result for each call, dense numbers, and one end for each agent that started.
void check_log(actor_fixture& f) {
  std::uint64_t seq = 0;
  std::map<std::string, int> open;
  std::map<std::string, int> alive;
  for (const auto& e : f.log()) {
    CHECK(e.seq == ++seq);
    if (const auto* call = e.as<tool_call_body>())
      ++open[call->call.str()];
    if (const auto* r = e.as<tool_result_body>())
      --open[r->call.str()];
    if (e.kind() == event_kind::agent_started)
      ++alive[e.agent().str()];
    if (e.kind() == event_kind::agent_ended)
      --alive[e.agent().str()];
  }
  for (const auto& [call, balance] : open)
    CHECK_MESSAGE(balance == 0, call);
  for (const auto& [agent, balance] : alive)
    CHECK_MESSAGE(balance == 0, agent);
}

} // namespace

TEST_CASE("a run that waits for its model goes on where it was") {
  for (const bool journal : {false, true}) {
    CAPTURE(journal);
    actor_fixture f{1000, journal};
    f.start(everything());
    REQUIRE(f.model->waiting("root") != nullptr);
    f.restart();
    auto feed = f.resume(everything());
    f.answer("root", answer({text_of("done")}));
    REQUIRE(feed->result().has_value());
    CHECK(feed->result()->text() == "done");
    CHECK(f.events<user_message_body>().size() == 1);
    check_log(f);
  }
}

TEST_CASE("a child goes on in place, under its own name and number") {
  for (const bool journal : {false, true}) {
    CAPTURE(journal);
    actor_fixture f{1000, journal};
    f.start(everything());
    f.answer("root", answer({helper(), helper()}));
    f.answer("helper", answer({text_of("first")}));
    f.restart();
    auto feed = f.resume(everything());
    f.answer("helper", answer({text_of("second")}));
    f.answer("root", answer({text_of("done")}));
    REQUIRE(feed->result().has_value());
    check_log(f);
    auto results = f.events<tool_result_body>();
    REQUIRE(results.size() == 2);
    std::set<std::string> texts{results[0].text, results[1].text};
    CHECK(texts == std::set<std::string>{"first", "second"});
    CHECK(f.events<agent_started_body>().size() == 3);
  }
}

TEST_CASE("a tool that may have taken effect is not run again, and one that only reads is") {
  actor_fixture f;
  auto feed = f.start(everything());
  auto call = f.model->waiting("root");
  // The log has the calls; the tools' results are lost with the process.
  f.threads->close(10'000);
  f.answer("root", answer({call_of("look"), call_of("change")}));
  f.restart();
  f.threads = std::make_shared<worker_threads>(2);
  feed = f.resume(everything());
  auto results = f.events<tool_result_body>();
  REQUIRE(!results.empty());
  for (const auto& r : results)
    if (r.name == "change")
      CHECK(r.code == errc::interrupted);
}

TEST_CASE("a question is open after a restart, and its answer reaches the model") {
  for (const bool journal : {false, true}) {
    CAPTURE(journal);
    actor_fixture f{1000, journal};
    run_request options;
    options.answerable = true;
    f.start(everything(), "go", options);
    f.answer("root", answer({call_of("asker", R"({"request":"ask"})")}));
    f.answer("asker", answer({call_of("request_input", R"({"message":"which?"})")}));
    auto questions = f.events<question_body>();
    REQUIRE(questions.size() == 1);
    f.restart();
    auto feed = f.resume(everything(), options);
    status answered = error{errc::internal, "not told"};
    caf::anon_send(f.sessions, actors::answer_question{f.session, questions[0].question, "the red one",
                                                       "user", [&](status s) { answered = std::move(s); }});
    f.run();
    CHECK(answered.has_value());
    auto call = f.model->waiting("asker");
    REQUIRE(call != nullptr);
    CHECK(std::get<tool_result_part>(call->request->contents.back()->parts[0].value).text == "the red one");
    f.answer("asker", answer({call_of("finish_task", R"({"result":"red"})")}));
    f.answer("root", answer({text_of("red")}));
    CHECK(feed->result()->completed());
    check_log(f);
  }
}

TEST_CASE("a run that nobody can answer is suspended when all wait, and keeps its questions") {
  actor_fixture f;
  run_request options;
  options.answerable = true;
  options.suspend_on_question = true;
  auto feed = f.start(everything(), "go", options);
  f.answer("root", answer({call_of("asker", R"({"request":"ask"})"), helper()}));
  f.answer("asker", answer({call_of("request_input", R"({"message":"which?"})")}));
  CHECK_FALSE(feed->result().has_value()); // the helper still works
  f.answer("helper", answer({text_of("helped")}));
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::needs_input);
  run_request answering;
  answering.answerable = true;
  auto again = f.resume(everything(), answering);
  caf::anon_send(f.sessions, actors::answer_question{f.session, call_id{"c1-0-0"}, "x", "user", nullptr});
  f.run();
  f.answer("asker", answer({call_of("finish_task", R"({"result":"red"})")}));
  f.answer("root", answer({text_of("red")}));
  CHECK(again->result()->completed());
  check_log(f);
}

TEST_CASE("background work goes on after a restart, and its result is told once") {
  for (const bool journal : {false, true}) {
    for (int at = 0; at < 4; ++at) {
      CAPTURE(journal);
      CAPTURE(at);
      actor_fixture f{1000, journal};
      f.start(everything());
      const auto stop = [&](int here) {
        if (at == here) {
          f.restart();
          f.resume(everything());
        }
      };
      f.answer("root",
               answer({call_of("spawn_subagent", R"({"name":"digger","goal":"dig","background":true})")}));
      stop(0);
      f.answer("root", answer({text_of("launched")}));
      stop(1);
      f.answer("digger", answer({text_of("gold")}));
      stop(2); // the root is awake
      f.answer("root", answer({text_of("thanks")}));
      if (at == 3) {
        f.restart();
        auto feed = f.resume(everything());
        REQUIRE(feed->result().has_value());
        CHECK(feed->result()->completed()); // nothing was left to do
      }
      CHECK(f.events<background_result_body>().size() == 1);
      CHECK(f.is_quiet());
      check_log(f);
    }
  }
}

TEST_CASE("a message to a session with a lost run ends that run first") {
  actor_fixture f;
  f.start(everything(), "first");
  f.restart();
  auto next = f.start(everything(), "second");
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(call->request->contents.back()->text() == "first");
  f.answer("root", answer({text_of("one")}));
  f.answer("root", answer({text_of("two")}));
  CHECK(next->result()->text() == "two");
  check_log(f);
}

TEST_CASE("the run of another root agent is closed and not taken over") {
  actor_fixture f;
  f.start(everything(), "first");
  f.restart();
  auto next = f.start(build(root("another")), "second");
  f.answer("another", answer({text_of("two")}));
  CHECK(next->result()->text() == "two");
  auto ends = f.events<agent_ended_body>();
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].outcome.code() == errc::interrupted);
  check_log(f);
}

TEST_CASE("a session is not resumed by another root agent, and stays as it is") {
  actor_fixture f;
  f.start(everything(), "first");
  f.restart();
  const auto before = f.log().size();
  auto refused = f.resume(build(root("another")));
  REQUIRE(refused->result().has_value());
  CHECK(refused->result()->code() == errc::unknown_agent);
  CHECK(f.log().size() == before);
  auto feed = f.resume(everything());
  f.answer("root", answer({text_of("one")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("background work that nobody can answer is suspended with its question, after the run") {
  actor_fixture f;
  auto spec = root();
  spec.tools = {make_tool("look")};
  spec.spawn = spawn_config{};
  spec.rules = std::make_shared<const policy>(
      *policy::compile({{.tool = "look", .agent = "digger", .decision = policy_decision::ask}}));
  const auto profile = build(spec);
  run_request options;
  options.answerable = true;
  options.suspend_on_question = true;
  auto feed = f.start(profile, "go", options);
  f.answer("root",
           answer({call_of("spawn_subagent", R"({"name":"digger","goal":"dig","background":true})")}));
  f.answer("root", answer({text_of("launched")}));
  CHECK(feed->result()->completed());
  f.answer("digger", answer({call_of("look")}));
  CHECK(f.is_quiet());
  CHECK(f.events<question_body>().size() == 1);
  run_request answering;
  answering.answerable = true;
  answering.answers = {{f.events<question_body>()[0].question, true}};
  f.resume(profile, answering);
  auto answers = f.events<answer_body>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].value == true);
}

TEST_CASE("there is nothing to resume in a session that is not there") {
  actor_fixture f;
  auto feed = f.resume(everything());
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::not_found);
}

TEST_CASE("with a journal the outcome and the acknowledgement of a hint wait until the log is durable") {
  actor_fixture f{1000, true};
  auto feed = f.start(everything());
  int writes = 0;
  bool told = false;
  f.breakable->before_append = [&] {
    ++writes;
    CHECK_FALSE(feed->result().has_value());
    CHECK_FALSE(told);
  };
  caf::anon_send(f.sessions, actors::steer_agents{f.session, {}, "mind this", "user", [&](const status& s) {
                                                    CHECK(s.has_value());
                                                    told = true;
                                                  }});
  f.run();
  CHECK(writes == 1);
  CHECK(told);
  told = false;
  f.answer("root", answer({text_of("first word")}));
  f.answer("root", answer({text_of("done")}));
  CHECK(writes >= 3);
  CHECK(feed->result().has_value());
  check_log(f);
  f.breakable->before_append = nullptr;
  f.breakable->broken = true;
  auto broken = f.start(everything(), "again");
  REQUIRE(broken->result().has_value());
  CHECK(broken->result()->code() == errc::store_failed);
}

TEST_CASE("with a journal a tool that has an effect starts only once its call is durable") {
  actor_fixture f{1000, true};
  auto spec = root();
  int ran = 0;
  tool_definition change;
  change.name = "change";
  change.description = "Changes something.";
  change.parameters = {{"type", "object"}};
  change.annotations.runs_inline = true;
  change.run = [&](const nlohmann::json&, tool_context& context) {
    ++ran;
    bool stored = false;
    for (const auto& call : f.events<tool_call_body>())
      stored = stored || call.call == context.call;
    CHECK(stored);
    return tool_result{"changed", {}, {}};
  };
  spec.tools = {std::make_shared<const tool_definition>(change)};
  f.start(build(spec));
  f.answer("root", answer({call_of("change")}));
  CHECK(ran == 1);
}

TEST_CASE("who opens a session that another engine has open is refused, or takes over as asked") {
  actor_fixture f;
  f.start(everything());
  // Another owner becomes the writer behind the supervisor's back.
  auto lease = f.store->open(f.session, {.owner = "other", .owned = when_owned::refuse});
  REQUIRE_FALSE(lease.has_value());
  CHECK(lease.failure().code == errc::busy);
  lease = f.store->open(f.session, {.owner = "other", .owned = when_owned::take_over});
  REQUIRE(lease.has_value());
  const auto before = f.log().size();
  f.answer("root", answer({text_of("too late")}));
  CHECK(f.log().size() == before);
}
