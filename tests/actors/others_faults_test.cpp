// Faults that were reported of other agent systems, each as a test that ours does not have it.
#include <algorithm>
#include <set>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

// Writes a state key that is named in its arguments.
tool_ptr remember(const std::string& scope) {
  tool_definition t;
  t.name = "remember";
  t.description = "Remembers.";
  t.parameters = {{"type", "object"}};
  t.annotations = {.read_only = true, .runs_inline = true};
  t.run = [scope](const nlohmann::json& arguments, tool_context&) {
    tool_result r{"remembered", {}, {}};
    r.state.emplace_back(scope + arguments.at("key").get<std::string>(), arguments.at("value"));
    return r;
  };
  return std::make_shared<const tool_definition>(std::move(t));
}

tool_ptr look() {
  return make_tool("look", "seen", {.read_only = true, .runs_inline = true});
}

agent_profile_ptr with_helpers(const std::string& scope = {}) {
  auto spec = root();
  spec.tools = {remember(scope), look(), "request_input"};
  spec.subagents = {{.name = "helper", .goal = "Help.", .tools = {"look", "remember"}},
                    {.name = "asker", .goal = "Ask.", .mode = agent_mode::task, .tools = {"request_input"}}};
  spec.spawn = spawn_config{};
  return build(spec);
}

part helper(const std::string& request) {
  return call_of("helper", nlohmann::json{{"request", request}}.dump());
}

part remember_call(const std::string& key, int value) {
  return call_of("remember", nlohmann::json{{"key", key}, {"value", value}}.dump());
}

part background(const std::string& name) {
  return call_of("spawn_subagent", R"({"name":")" + name + R"(","goal":"work","background":true})");
}

// The text of all that a request shows.
std::string all_text(const model_request& request) {
  std::string text = request.head->system;
  for (std::size_t i = 0; i < request.contents.size(); ++i)
    for (const auto& p : request.contents[i]->parts)
      if (const auto* t = std::get_if<text_part>(&p.value))
        text += "\n" + t->text;
      else if (const auto* r = std::get_if<tool_result_part>(&p.value))
        text += "\n" + r->text;
  return text;
}

run_request answerable() {
  run_request options;
  options.answerable = true;
  return options;
}

void give_answer(actor_fixture& f, const std::string& question, nlohmann::json value) {
  caf::anon_send(f.sessions,
                 actors::answer_question{f.session, call_id{question}, std::move(value), "user", nullptr});
  f.run();
}

} // namespace

TEST_CASE("1: what parallel children write to shared state is all there, and parallel calls lose none") {
  actor_fixture f;
  f.start(with_helpers("user:"));
  std::vector<part> calls;
  for (int i = 0; i < 50; ++i)
    calls.push_back(helper("job " + std::to_string(i)));
  f.answer("root", answer(std::move(calls)));
  for (int i = 0; i < 50; ++i)
    f.answer("helper",
             answer({remember_call("k" + std::to_string(i), i), remember_call("l" + std::to_string(i), i)}));
  for (int i = 0; i < 50; ++i)
    f.answer("helper", answer({text_of("done")}));
  auto shared = f.store->shared_state("local", "");
  REQUIRE(shared.has_value());
  CHECK(shared->size() == 100);
  CHECK((*shared)["user:k49"] == 49);
}

TEST_CASE("2, 3: of 50 children at once each sees its own history, whole, and nobody else's") {
  actor_fixture f;
  f.start(with_helpers());
  std::vector<part> calls;
  for (int i = 0; i < 50; ++i)
    calls.push_back(helper("job-" + std::to_string(i) + ";"));
  f.answer("root", answer(std::move(calls)));
  for (int turn = 0; turn < 2; ++turn)
    for (int i = 0; i < 50; ++i)
      f.answer("helper", answer({text_of("thinking"), call_of("look")}));
  int seen = 0;
  for (const auto& call : f.model->calls) {
    if (!call->sink || call->request->agent != "helper")
      continue;
    ++seen;
    const auto text = all_text(*call->request);
    int jobs = 0;
    for (int i = 0; i < 50; ++i)
      jobs += text.find("job-" + std::to_string(i) + ";") != std::string::npos ? 1 : 0;
    CHECK(jobs == 1);
    CHECK(call->request->contents.size() == 5); // the request, and two turns with their results
  }
  CHECK(seen == 50);
}

TEST_CASE("4: a second child of the same name, one after the other, gets its own request") {
  actor_fixture f;
  f.start(with_helpers());
  f.answer("root", answer({helper("first job")}));
  f.answer("helper", answer({text_of("1")}));
  f.answer("root", answer({helper("second job")}));
  auto call = f.model->waiting("helper");
  REQUIRE(call != nullptr);
  CHECK(all_text(*call->request).find("second job") != std::string::npos);
  CHECK(all_text(*call->request).find("first job") == std::string::npos);
}

TEST_CASE(
    "5, 18: a child that asked goes on with its own call after a restart, and never with its parent's") {
  actor_fixture f;
  f.start(with_helpers(), "go", answerable());
  f.answer("root", answer({call_of("asker", R"({"request":"ask"})")}));
  f.answer("asker", answer({call_of("request_input", R"({"message":"which?"})")}));
  f.restart();
  auto feed = f.resume(with_helpers(), answerable());
  give_answer(f, "c1-0-0", "red");
  auto call = f.model->waiting("asker");
  REQUIRE(call != nullptr);
  CHECK(f.model->waiting("root") == nullptr);
  CHECK(std::get<tool_result_part>(call->request->contents.back()->parts[0].value).call.str() == "c1-0-0");
  f.answer("asker", answer({call_of("finish_task", R"({"result":"red"})")}));
  f.answer("root", answer({text_of("red")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("7: two messages to one session never interleave") {
  actor_fixture f;
  auto first = f.start(with_helpers(), "one");
  auto second = f.start(with_helpers(), "two");
  run_request refused;
  refused.busy = on_busy::reject;
  auto third = f.start(with_helpers(), "three", refused);
  REQUIRE(third->result().has_value());
  CHECK(third->result()->code() == errc::busy);
  f.answer("root", answer({text_of("1")}));
  f.answer("root", answer({text_of("2")}));
  CHECK(second->result()->text() == "2");
  std::string run;
  int switches = 0;
  for (const auto& e : f.log())
    if (e.run().str() != run) {
      run = e.run().str();
      ++switches;
    }
  CHECK(switches == 2);
}

TEST_CASE("8: a background result that is stored while the root works disturbs no turn") {
  actor_fixture f;
  auto feed = f.start(with_helpers());
  f.answer("root", answer({background("digger"), helper("job")}));
  f.answer("digger", answer({text_of("gold")}));
  f.answer("helper", answer({text_of("helped")}));
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  // Call, results, then the background result: nothing stands between a call and its result.
  const auto& contents = call->request->contents;
  REQUIRE(contents.size() >= 4);
  CHECK(contents[1]->role == role::model);
  CHECK(contents[2]->role == role::tool);
  CHECK(contents[3]->text().find("gold") != std::string::npos);
  f.answer("root", answer({text_of("done")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("9: compaction leaves a call that waits for its answer whole, and the answer finds it") {
  auto spec = root();
  spec.tools = {"request_input", look()};
  spec.compaction.above_tokens = 1;
  spec.compaction.keep_tokens = 1;
  const auto profile = build(spec);
  actor_fixture f;
  auto feed = f.start(profile, std::string(4000, 'x'), answerable());
  f.answer("root", answer({call_of("look")}));
  f.answer("root", answer({text_of("what it was about")})); // the summary
  f.answer("root", answer({call_of("request_input", R"({"message":"which?"})"), call_of("look")}));
  CHECK(f.model->waiting("root") == nullptr); // nothing is summed up while the question is open
  give_answer(f, "c0-1-0", "red");
  f.answer("root", answer({text_of("and further")}));
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  std::set<std::string> calls;
  std::set<std::string> results;
  for (std::size_t i = 0; i < call->request->contents.size(); ++i)
    for (const auto& p : call->request->contents[i]->parts)
      if (const auto* c = std::get_if<tool_call_part>(&p.value))
        calls.insert(c->call.str());
      else if (const auto* r = std::get_if<tool_result_part>(&p.value))
        results.insert(r->call.str());
  CHECK(calls == results);
  CHECK(results.contains("c0-1-0"));
  f.answer("root", answer({text_of("done")}));
  CHECK(feed->result()->completed());
  CHECK(f.events<compaction_body>().size() == 2);
}

TEST_CASE("10: a call that a crash orphaned blocks no later compaction") {
  auto spec = root();
  spec.tools = {make_tool("change", "changed", {})};
  spec.compaction.above_tokens = 1;
  spec.compaction.keep_tokens = 1;
  const auto profile = build(spec);
  actor_fixture f;
  f.start(profile, std::string(4000, 'x'));
  f.threads->close(10'000);
  f.answer("root", answer({call_of("change")}));
  f.restart();
  auto feed = f.resume(profile);
  f.answer("root", answer({text_of("what it was about")})); // the summary
  CHECK(f.events<compaction_body>().size() == 1);
  f.answer("root", answer({text_of("done")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("11, 12, 21: results of siblings stand over a question's pause and a restart, and no sibling runs "
          "again") {
  actor_fixture f;
  f.start(with_helpers(), "go", answerable());
  f.answer("root", answer({call_of("look"), call_of("request_input", R"({"message":"a?"})"),
                           call_of("request_input", R"({"message":"b?"})"), helper("job")}));
  f.answer("helper", answer({text_of("helped")}));
  f.restart();
  auto feed = f.resume(with_helpers(), answerable());
  CHECK(f.model->waiting("helper") == nullptr);
  give_answer(f, "c0-0-2", "second");
  CHECK(f.model->waiting("root") == nullptr);
  give_answer(f, "c0-0-1", "first");
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  const auto& parts = call->request->contents.back()->parts;
  REQUIRE(parts.size() == 4);
  CHECK(std::get<tool_result_part>(parts[0].value).text == "seen");
  CHECK(std::get<tool_result_part>(parts[1].value).text == "first");
  CHECK(std::get<tool_result_part>(parts[2].value).text == "second");
  CHECK(std::get<tool_result_part>(parts[3].value).text == "helped");
  CHECK(f.events<agent_started_body>().size() == 2);
  f.answer("root", answer({text_of("done")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("13, 14: a child's events stand in the stream before its parent's result, and not in its parent's "
          "prompt") {
  actor_fixture f;
  auto feed = f.start(with_helpers());
  f.answer("root", answer({helper("job")}));
  f.answer("helper", answer({text_of("inner words"), call_of("look")}));
  f.answer("helper", answer({text_of("outer words")}));
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(all_text(*call->request).find("inner words") == std::string::npos);
  CHECK(all_text(*call->request).find("outer words") != std::string::npos);
  const auto log = f.log();
  const auto inner = std::find_if(log.begin(), log.end(), [](const event& e) {
    const auto* text = e.as<model_text_body>();
    return text != nullptr && text->text == "inner words";
  });
  const auto result = std::find_if(log.begin(), log.end(), [](const event& e) {
    return e.kind() == event_kind::tool_result && e.origin->number == 0;
  });
  CHECK(inner < result);
  f.answer("root", answer({text_of("done")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("19: what was cancelled stays cancelled, whatever its model says later") {
  actor_fixture f;
  auto feed = f.start(with_helpers());
  f.answer("root", answer({background("digger")}));
  auto late = f.model->waiting("digger")->sink;
  f.cancel(make_agent_id(f.session, 1));
  late->on_done(answer({text_of("gold after all")}));
  f.run();
  auto list = f.tasks();
  REQUIRE(list.size() == 1);
  CHECK(list[0].status == task_status::cancelled);
  for (const auto& e : f.log())
    if (const auto* text = e.as<model_text_body>())
      CHECK(text->text != "gold after all");
  f.answer("root", answer({text_of("1")}));
  if (!feed->result())
    f.answer("root", answer({text_of("2")}));
  CHECK(f.events<background_result_body>().size() == 1);
}

TEST_CASE("20: a question that another surface answered is closed for all") {
  actor_fixture f;
  f.start(with_helpers(), "go", answerable());
  f.answer("root", answer({call_of("request_input", R"({"message":"which?"})")}));
  give_answer(f, "c0-0-0", "red");
  status second = ok();
  caf::anon_send(f.sessions, actors::answer_question{f.session, call_id{"c0-0-0"}, "blue", "user",
                                                     [&second](status s) { second = std::move(s); }});
  f.run();
  REQUIRE_FALSE(second.has_value());
  CHECK(second.failure().code == errc::not_found);
  CHECK(f.events<answer_body>().size() == 1);
}

TEST_CASE("22: what a cancelled child said is its own, and its parent has one result") {
  actor_fixture f;
  f.start(with_helpers());
  f.answer("root", answer({helper("job")}));
  f.answer("helper", answer({text_of("half of it"), call_of("look")}));
  f.cancel(make_agent_id(f.session, 1));
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  CHECK(call->request->contents.size() == 3);
  auto told =
      nlohmann::json::parse(std::get<tool_result_part>(call->request->contents.back()->parts[0].value).text);
  CHECK(told["status"] == "cancelled");
  CHECK(told["partial"] == "half of it");
}

TEST_CASE("23: two children that write one key do not fail; the last write counts") {
  actor_fixture f;
  f.start(with_helpers("app:"));
  f.answer("root", answer({helper("a"), helper("b")}));
  f.answer("helper", answer({remember_call("k", 1)}));
  f.answer("helper", answer({remember_call("k", 2)}));
  f.answer("helper", answer({text_of("done")}));
  f.answer("helper", answer({text_of("done")}));
  auto shared = f.store->shared_state("local", "");
  REQUIRE(shared.has_value());
  CHECK((*shared)["app:k"] == 2);
  for (const auto& r : f.events<tool_result_body>())
    CHECK_FALSE(r.is_error);
}

TEST_CASE(
    "24: a background child's events after the run are in the session and in the tree, and harm nothing") {
  actor_fixture f;
  run_request options;
  options.background = on_background_result::next_run;
  auto feed = f.start(with_helpers(), "go", options);
  f.answer("root", answer({background("digger")}));
  f.answer("root", answer({text_of("launched")}));
  REQUIRE(feed->result().has_value());
  const auto before = f.log().size();
  f.answer("digger", answer({text_of("digging"), call_of("look")}));
  f.answer("digger", answer({text_of("gold")}));
  CHECK(f.log().size() > before);
  CHECK(f.log().back().kind() == event_kind::background_result);
  auto snapshot = f.snapshot();
  REQUIRE(snapshot.sessions.size() == 1);
  const auto& agents = snapshot.sessions[0].agents;
  CHECK(std::any_of(agents.begin(), agents.end(), [](const agent_row& a) {
    return a.origin->author == "digger" && a.state == activity_state::completed;
  }));
  // The notification is optional: nothing has woken the root.
  CHECK(f.model->waiting("root") == nullptr);
}

TEST_CASE("26: work that nobody can take up again is reported as lost, and its parent is told") {
  actor_fixture f;
  f.start(with_helpers());
  f.answer("root", answer({background("digger")}));
  f.answer("root", answer({text_of("launched")}));
  f.restart();
  auto spec = root(); // it can no longer make up agents
  f.resume(build(spec));
  auto results = f.events<background_result_body>();
  REQUIRE(results.size() == 1);
  CHECK(results[0].outcome.code() == errc::lost);
  auto call = f.model->waiting("root");
  REQUIRE(call != nullptr);
  f.answer("root", answer({text_of("a pity")}));
  CHECK(f.is_quiet());
}

TEST_CASE("27: an interruption keeps what was finished and tells a foreground result once") {
  actor_fixture f;
  f.start(with_helpers());
  f.answer("root", answer({helper("a"), helper("b")}));
  f.answer("helper", answer({text_of("a is done")}));
  f.cancel();
  auto results = f.events<tool_result_body>();
  REQUIRE(results.size() == 2);
  std::multiset<std::string> calls;
  bool kept = false;
  for (const auto& r : results) {
    calls.insert(r.call.str());
    kept = kept || r.text == "a is done";
  }
  CHECK(kept);
  CHECK(calls == std::multiset<std::string>{"c0-0-0", "c0-0-1"});
  CHECK(f.events<background_result_body>().empty());
}

TEST_CASE("28: nothing goes to the background unless the call asks for it") {
  actor_fixture f;
  auto feed = f.start(with_helpers());
  f.answer("root", answer({call_of("spawn_subagent", R"({"name":"a","goal":"g"})"),
                           call_of("spawn_subagent", R"({"name":"b","goal":"g","background":false})")}));
  CHECK(f.tasks().empty());
  CHECK(f.model->waiting("root") == nullptr);
  f.answer("a", answer({text_of("1")}));
  f.answer("b", answer({text_of("2")}));
  f.answer("root", answer({text_of("done")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("a question that nobody answers in time is a result that says so") {
  actor_fixture f;
  auto options = answerable();
  options.question_timeout = std::chrono::minutes{5};
  auto feed = f.start(with_helpers(), "go", options);
  f.answer("root", answer({call_of("request_input", R"({"message":"which?"})")}));
  f.advance(std::chrono::minutes{4});
  CHECK(f.events<tool_result_body>().empty());
  f.advance(std::chrono::minutes{2});
  auto results = f.events<tool_result_body>();
  REQUIRE(results.size() == 1);
  CHECK(results[0].code == errc::timeout);
  f.answer("root", answer({text_of("without it")}));
  CHECK(feed->result()->completed());
}
