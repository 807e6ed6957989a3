// Sessions in a file: over runtimes that end, beside runtimes that live, and with work in the background.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <future>
#include <latch>

#include "embed/model_rules.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::shared_ptr<session_store> store_in(const test::temporary_folder& folder) {
  auto store = open_store("sqlite:" + (folder.path() / "s.db").string(), durability::strict);
  REQUIRE_MESSAGE(store.has_value(), (store ? "" : store.failure().message));
  return *store;
}

// Asks the user once, then repeats the answer.
model_response ask_once(const model_request& request) {
  return test::tool_turns(request) == 0 ? call_response("request_input", {{"message", "which?"}})
                                        : text_response("it is " + test::last_text(request));
}

// Starts a digger in the background; tells what came of it when it is told.
model_response dig(const model_request& request) {
  if (request.agent != "root")
    return text_response("gold");
  if (test::tool_turns(request) == 0)
    return call_response("spawn_subagent", {{"name", "digger"}, {"goal", "dig"}, {"background", true}});
  return text_response(test::last_text(request).find("gold") != std::string::npos ? "rich" : "launched");
}

deep_agent root_agent() {
  return {.name = "root",
          .model = "rules",
          .instruction = "You are a test.",
          .tools = {"request_input"},
          .spawn = spawn_config{}};
}

struct world {
  world(std::shared_ptr<session_store> store, model_function rules,
        shutdown_mode at_shutdown = shutdown_mode::cancel)
      : rt(with(std::move(store), at_shutdown)) {
    rt.add_model("rules", function_model(std::move(rules)));
    root.emplace(rt.create_deep_agent(root_agent()));
  }
  static runtime_options with(std::shared_ptr<session_store> store, shutdown_mode at_shutdown) {
    runtime_options o;
    o.store = std::move(store);
    o.at_shutdown = at_shutdown;
    return o;
  }
  runtime rt;
  std::optional<agent> root;
};

} // namespace

TEST_CASE("a conversation goes on in another runtime, from the file") {
  test::temporary_folder folder;
  auto count = [](const model_request& request) {
    return text_response(std::to_string(request.contents.size()));
  };
  {
    world w{store_in(folder), count};
    CHECK(w.root->run("one", {.session = "s"}).outcome().text() == "1");
  }
  world w{store_in(folder), count};
  auto run = w.root->run("two", {.session = "s"});
  CHECK(run.outcome().text() == "3");
  std::uint64_t first = 0;
  for (const auto& e : run)
    first = first == 0 ? e.seq : first;
  CHECK(first > 1);
}

TEST_CASE("a question is answered in another runtime, after the first was suspended") {
  test::temporary_folder folder;
  std::string question;
  {
    world w{store_in(folder), ask_once, shutdown_mode::suspend};
    auto run = w.root->run("go", {.session = "s", .answerable = true, .suspend_on_question = true});
    for (const auto& e : run)
      if (const auto* q = e.as<question_body>())
        question = q->question.str();
    CHECK(run.outcome().code() == errc::needs_input);
  }
  REQUIRE_FALSE(question.empty());
  world w{store_in(folder), ask_once};
  SUBCASE("through run_options") {
    run_options options;
    options.answerable = true;
    options.suspend_on_question = true;
    options.answers = {{call_id{question}, "red"}};
    CHECK(w.rt.resume("s", options).outcome().text() == "it is red");
  }
  SUBCASE("through the run, once it is resumed") {
    auto run = w.rt.resume("s", {.answerable = true});
    status taken = error{errc::internal, ""};
    for (int i = 0; i < 1000 && !taken; ++i)
      taken = run.answer(question, "blue");
    CHECK(taken.has_value());
    CHECK(run.outcome().text() == "it is blue");
  }
}

TEST_CASE("a session that another runtime has open is refused, and taken over when that is asked for") {
  test::temporary_folder folder;
  std::promise<void> release;
  auto held = release.get_future().share();
  world first{store_in(folder), [held](const model_request&) {
                held.wait();
                return text_response("too late");
              }};
  auto slow = first.root->run("go", {.session = "s"});
  for (const auto& e : slow)
    if (e.kind() == event_kind::user_message)
      break;
  auto answer_at_once = [](const model_request&) { return text_response("mine"); };
  world second{store_in(folder), answer_at_once};
  auto refused = second.root->run("go", {.session = "s"}).outcome();
  CHECK(refused.code() == errc::busy);
  auto taken = second.root->run("go", {.session = "s", .take_over = true});
  CHECK(taken.outcome().text() == "mine");
  release.set_value();
  const auto lost = slow.outcome();
  CHECK(lost.failed());
  CHECK(lost.code() == errc::fenced);
}

TEST_CASE("a background result wakes the session, whose owner sees that run") {
  test::temporary_folder folder;
  world w{store_in(folder), dig};
  std::promise<std::string> told;
  auto s = w.rt.session("s");
  s.on_run([&told](run woken) { told.set_value(woken.outcome().text()); });
  auto run = w.root->run("go", {.session = "s"});
  const auto first = run.outcome().text();
  if (first == "launched") {
    CHECK(told.get_future().get() == "rich");
  } else {
    CHECK(first == "rich"); // the result came while the run was under way
  }
  CHECK(s.wait_quiet(10s));
  auto tasks = run.background();
  REQUIRE(tasks.has_value());
  REQUIRE(tasks->size() == 1);
  CHECK(tasks->front().status == task_status::completed);
  CHECK(tasks->front().delivered);
}

TEST_CASE("a runtime that waits at its end lets background work come to its end") {
  test::temporary_folder folder;
  auto store = store_in(folder);
  {
    world w{store, dig, shutdown_mode::wait};
    CHECK(w.root->run("go", {.session = "s"}).outcome().completed());
  }
  auto page = store->read(session_id{"s"}, 0, 1000);
  REQUIRE(page.has_value());
  int told = 0;
  for (const auto& batch : page->batches)
    for (const auto& e : *batch)
      told += e.kind() == event_kind::background_result ? 1 : 0;
  CHECK(told == 1);
}

TEST_CASE("a session of nobody, and one of an agent that is not here, cannot be resumed") {
  test::temporary_folder folder;
  auto hello = [](const model_request&) { return text_response("hello"); };
  world w{store_in(folder), hello};
  CHECK_THROWS_AS((void)w.rt.resume("nobody"), config_error);
  CHECK(w.root->run("go", {.session = "s"}).outcome().completed());
  runtime other{world::with(store_in(folder), shutdown_mode::cancel)};
  CHECK_THROWS_AS((void)other.resume("s"), config_error);
}

TEST_CASE("a reader that falls behind in a session of a file loses nothing") {
  test::temporary_folder folder;
  tool_definition look;
  look.name = "look";
  look.description = "Looks.";
  look.parameters = {{"type", "object"}};
  look.annotations.read_only = true;
  look.run = [](const json&, tool_context&) { return tool_result{"seen", {}, {}}; };
  runtime rt{world::with(store_in(folder), shutdown_mode::cancel)};
  rt.add_model("rules", function_model([](const model_request& request) {
                 if (request.turn >= 20)
                   return text_response("done");
                 model_response r;
                 r.finish = finish_reason::tool_calls;
                 for (int i = 0; i < 200; ++i)
                   r.parts.push_back({tool_call_part{{}, "look", "{}"}, {}});
                 return r;
               }));
  auto root = rt.create_deep_agent({.name = "root",
                                    .model = "rules",
                                    .instruction = "You are a test.",
                                    .tools = {std::make_shared<const tool_definition>(look)}});
  auto run = root.run("go", {.session = "s"});
  CHECK(run.outcome().completed());
  std::uint64_t seq = 0;
  for (const auto& e : run)
    CHECK(e.seq == ++seq);
  CHECK(seq > 8000);
  CHECK(run.missed() == 0);
}
