// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <thread>

#include "support/manual_timer.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

struct query_args {
  std::string sql;
  int limit = 100;
};
TROUPE_FIELDS(query_args, (sql, "read-only SQL"), (limit, "most rows to return"))

bool has_result(const model_request& request) {
  return !request.contents.empty() && request.contents.back()->role == role::tool;
}

std::string last_result(const model_request& request) {
  return std::get<tool_result_part>(request.contents.back()->parts.back().value).text;
}

// The root asks the reviewer once and repeats what it says.
model_response delegate_once(const model_request& request) {
  if (request.agent == "reviewer")
    return text_response("fine");
  return has_result(request) ? text_response("the reviewer says: " + last_result(request))
                             : call_response("reviewer", {{"request", "look"}});
}

deep_agent analyst() {
  return {.name = "analyst",
          .model = "rules",
          .instruction = "Analyse.",
          .subagents = {{.name = "reviewer", .goal = "Review."}}};
}

} // namespace

TEST_CASE("the program of the design page: a root, a subagent, the events of both, an outcome") {
  runtime rt;
  rt.add_model("rules", function_model(delegate_once));
  auto root = rt.create_deep_agent(analyst());
  auto run = root.run("Why?", {.session = "s1"});
  std::vector<std::string> authors;
  std::uint64_t seq = 0;
  for (const event& e : run) {
    CHECK(e.seq == ++seq);
    authors.push_back(e.author());
    CHECK(!to_line(e).empty());
  }
  CHECK(run.outcome().completed());
  CHECK(run.outcome().text() == "the reviewer says: fine");
  CHECK(std::count(authors.begin(), authors.end(), "reviewer") == 4);
  CHECK(run.id() == run_id{"s1/r1"});
  CHECK(run.missed() == 0);
}

TEST_CASE(
    "a model in code may answer through the runtime's own timer, also when the runtime ends before it does") {
  std::atomic<int> asked{0};
  {
    runtime rt;
    rt.add_model("rules", function_model(delegate_once, rt.clock()));
    rt.add_model("late", function_model(
                             [&asked](const model_request&) {
                               ++asked;
                               asked.notify_all();
                               return text_response("never heard");
                             },
                             rt.clock(), 1h));
    CHECK(rt.create_deep_agent(analyst()).run("Why?").outcome().text() == "the reviewer says: fine");
    auto waits = rt.create_deep_agent({.name = "waits", .model = "late", .instruction = "Wait."}).run("Now");
    asked.wait(0);
  }
  CHECK(asked == 1);
}

TEST_CASE("typed tools run on their own threads and give their results back") {
  runtime rt;
  rt.add_model("rules", function_model([](const model_request& request) {
                 return has_result(request) ? text_response(last_result(request))
                                            : call_response("query", {{"sql", "select 1"}});
               }));
  std::thread::id where;
  auto root = rt.create_deep_agent(
      {.name = "root", .model = "rules", .tools = {tool("query", "Runs a query.", [&](const query_args& a) {
                                           where = std::this_thread::get_id();
                                           return a.sql + " limit " + std::to_string(a.limit);
                                         })}});
  auto run = root.run("go");
  CHECK(run.outcome().text() == "select 1 limit 100");
  CHECK((where != std::this_thread::get_id()));
}

TEST_CASE("events come to a callback in order, it may call the run, and what it throws is caught") {
  std::atomic<int> logged{0};
  runtime rt{{.log = [&](log_level, std::string_view) { ++logged; }}};
  rt.add_model("rules", function_model(delegate_once));
  auto run = rt.create_deep_agent(analyst()).run("Why?");
  std::promise<void> ended;
  std::vector<std::uint64_t> seen;
  run.on_event([&, ended_once = false](const event& e) mutable {
    seen.push_back(e.seq);
    (void)run.id();
    if (e.kind() == event_kind::agent_ended && e.author() == "analyst" && !std::exchange(ended_once, true))
      ended.set_value();
    throw std::runtime_error{"the callback is broken"};
  });
  REQUIRE(ended.get_future().wait_for(20s) == std::future_status::ready);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.size() >= 8);
  CHECK(logged > 0);
}

TEST_CASE("a hint reaches a run that waits for its model, and a cancelled run ends as cancelled") {
  test::manual_timer clock;
  runtime rt;
  std::mutex mutex;
  std::vector<std::string> asked;
  rt.add_model("rules", function_model(
                            [&](const model_request& request) {
                              std::lock_guard lock{mutex};
                              asked.push_back(request.contents.back()->text());
                              return text_response("done");
                            },
                            clock, 1s));
  auto run = rt.create_deep_agent({.name = "root", .model = "rules"}).run("go");
  SUBCASE("steer") {
    CHECK(run.steer("look left"));
    while (!run.wait_for(1ms))
      clock.advance(1s);
    CHECK(run.outcome().completed());
    std::lock_guard lock{mutex};
    CHECK(asked.back().find("look left") != std::string::npos);
  }
  SUBCASE("cancel") {
    run.cancel();
    CHECK(run.outcome().cancelled());
    CHECK(run.outcome().by() == "user");
    CHECK(run.steer("too late").has_value()); // waits for the session's next run
  }
}

TEST_CASE("a session goes on with its conversation, and two runs of it take turns") {
  runtime rt;
  rt.add_model("count", function_model([](const model_request& request) {
                 return text_response(std::to_string(request.contents.size()));
               }));
  auto root = rt.create_deep_agent({.name = "root", .model = "count"});
  auto first = root.run("one", {.session = "s"});
  auto second = root.run("two", {.session = "s"});
  CHECK(first.outcome().text() == "1");
  CHECK(second.outcome().text() == "3");
  CHECK_THROWS_AS((void)root.run("x", {.session = "no/slash"}), config_error);
}

TEST_CASE("leaving the scope ends everything, also a run that waits and a tool that does not stop") {
  auto released = std::make_shared<std::latch>(1);
  auto begun = std::make_shared<std::latch>(1);
  std::vector<std::string> warnings;
  std::optional<troupe::run> left;
  {
    runtime rt{{.shutdown_timeout = 50ms,
                .log = [&](log_level, std::string_view message) { warnings.emplace_back(message); }}};
    rt.add_model("rules",
                 function_model([](const model_request&) { return call_response("hang", json::object()); }));
    auto root =
        rt.create_deep_agent({.name = "root",
                              .model = "rules",
                              .tools = {tool("hang", "Hangs.", {.read_only = true}, [begun, released] {
                                begun->count_down();
                                released->wait();
                              })}});
    left = root.run("go");
    begun->wait();
  }
  CHECK(left->outcome().cancelled());
  CHECK(!left->steer("anybody there?"));
  released->count_down();
}

TEST_CASE("an agent whose runtime has ended says so") {
  std::optional<agent> left;
  {
    runtime rt;
    left = rt.create_deep_agent({.name = "root"});
  }
  CHECK_THROWS_AS((void)left->run("x"), config_error);
}

TEST_CASE("declarations that do not fit are refused with what would be right") {
  runtime rt;
  auto refuses = [&](deep_agent spec, errc code, const char* word) {
    try {
      (void)rt.create_deep_agent(std::move(spec));
      FAIL("it was taken");
    } catch (const config_error& e) {
      CHECK(e.why().code == code);
      CHECK_MESSAGE(std::string{e.what()}.find(word) != std::string::npos, e.what());
    }
  };
  refuses({.name = "a", .model = "scenaro"}, errc::unknown_model, "scenario");
  refuses({.name = "a b"}, errc::bad_definition, "letters");
  refuses({.name = "a", .tools = {"toodo"}}, errc::unknown_tool, "todo");
  refuses({.name = "a", .available_models = {{.id = "m", .provider = "nobody"}}}, errc::bad_config, "openai");
  refuses({.name = "a",
           .available_models = {{.id = "m", .provider = "openai", .api_key_env = "TROUPE_TEST_NO_SUCH_KEY"}}},
          errc::bad_config, "TROUPE_TEST_NO_SUCH_KEY");
  refuses({.name = "a", .policy = {{.arguments_pattern = "("}}}, errc::bad_config, "");
}

TEST_CASE("hooks may deny, replace and change; one that throws denies") {
  runtime rt;
  rt.add_model("rules", function_model([](const model_request& request) {
                 return has_result(request) ? text_response(last_result(request))
                                            : call_response("probe", json::object());
               }));
  auto h = std::make_shared<hooks>();
  std::string expected;
  SUBCASE("deny") {
    h->before_tool = [](const hook_context&, const std::string&, const json&) {
      return tool_verdict{.deny = "not today", .replace = {}, .arguments = {}};
    };
    expected = "not today";
  }
  SUBCASE("replace") {
    h->before_tool = [](const hook_context&, const std::string&, const json&) {
      return tool_verdict{.deny = {}, .replace = tool_result{"from the hook", {}, {}}, .arguments = {}};
    };
    expected = "from the hook";
  }
  SUBCASE("change the result") {
    h->after_tool = [](const hook_context& c, const std::string& t, tool_result& r) {
      r.text = c.agent_name + " " + t;
    };
    expected = "root probe";
  }
  SUBCASE("throw") {
    h->before_tool = [](const hook_context&, const std::string&, const json&) -> tool_verdict {
      throw std::runtime_error{"broken hook"};
    };
    expected = "The hook before_tool failed: broken hook";
  }
  SUBCASE("change the outcome") {
    h->after_agent = [](const hook_context&, outcome& o) {
      o = outcome::make_completed("[" + o.text() + "]");
    };
    expected = "[ran]";
  }
  auto root = rt.create_deep_agent({.name = "root",
                                    .model = "rules",
                                    .tools = {tool("probe", "Probes.", [] { return "ran"; })},
                                    .before_and_after = h});
  CHECK(root.run("go").outcome().text() == expected);
}

TEST_CASE("a slow reader loses nothing: it goes on from the store") {
  runtime rt;
  rt.add_model("rules", function_model([](const model_request& request) {
                 if (request.agent != "root")
                   return text_response("x");
                 if (has_result(request))
                   return text_response("end");
                 model_response r;
                 for (int i = 0; i < 2000; ++i)
                   r.parts.push_back({tool_call_part{{}, "child", R"({"request":"r"})"}, {}});
                 return r;
               }));
  auto root =
      rt.create_deep_agent({.name = "root", .model = "rules", .subagents = {{.name = "child", .goal = "g"}}});
  auto run = root.run("go");
  CHECK(run.outcome().completed()); // nobody has read a single event yet
  std::uint64_t seq = 0;
  for (const auto& e : run)
    REQUIRE(e.seq == ++seq);
  CHECK(seq > 12'000);
  CHECK(run.missed() == 0);
}

TEST_CASE("a runtime may end on another thread than those that made and used it") {
  auto rt = std::make_unique<runtime>();
  std::latch used{1};
  std::latch over{1};
  std::jthread user{[&] {
    CHECK(rt->engine().snapshot({}));
    used.count_down();
    over.wait();
  }};
  used.wait();
  CHECK(rt->create_deep_agent({.name = "root"}).run("hello").outcome().completed());
  std::thread{[&] { rt.reset(); }}.join();
  over.count_down();
}

TEST_CASE("every event reaches its callback before the runtime has ended") {
  std::vector<event_kind> kinds;
  {
    runtime rt;
    rt.add_model("rules", function_model(delegate_once));
    auto run = rt.create_deep_agent(analyst()).run("Why?");
    run.on_event([&](const event& e) { kinds.push_back(e.kind()); });
    CHECK(run.outcome().completed());
  }
  REQUIRE(kinds.size() >= 8);
  CHECK(kinds.back() == event_kind::agent_ended);
}

TEST_CASE("an agent file that cannot be used is left out, and the others serve") {
  test::temporary_folder f;
  f.write("agents/good.md", "---\nname: good\ndescription: d\ntools: []\n---\nDo good.\n");
  f.write("agents/odd_model.md", "---\nname: odd\ndescription: d\nmodel: no-such-model\n---\nHm.\n");
  runtime rt{{.agents_folder = f.path() / "agents"}};
  auto root = rt.create_deep_agent({.name = "root"});
  REQUIRE(root.skipped().size() == 1);
  CHECK(root.skipped()[0].find("odd_model.md") != std::string::npos);
  CHECK(root.skipped()[0].find("no-such-model") != std::string::npos);
  CHECK(root.profile().tools.contains("invoke_agent"));
}
