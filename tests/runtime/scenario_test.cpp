// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/scenario/scenario.hpp>
#include <troupe/runtime/tools/file_tools.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include <support/manual_timer.hpp>
#include <support/recording_sink.hpp>
#include <support/temporary_folder.hpp>

using namespace troupe;
using namespace std::chrono_literals;
using json = nlohmann::json;

namespace {

// One agent's conversation with the model, as the runtime would hold it.
struct conversation {
  std::string agent;
  std::vector<std::string> offers;
  transcript contents{};
  std::uint32_t turn = 0;

  conversation& user(std::string text) {
    contents.append(make_text(role::user, std::move(text)));
    return *this;
  }
  conversation& result(const std::string& tool, std::string text) {
    content c;
    c.role = role::tool;
    c.parts.push_back({tool_result_part{call_id{"c"}, tool, std::move(text), false}, {}});
    contents.append(std::move(c));
    return *this;
  }
  // Results of one turn.
  conversation& results(const std::string& tool, const std::vector<std::string>& texts) {
    content c;
    c.role = role::tool;
    for (const auto& text : texts)
      c.parts.push_back({tool_result_part{call_id{"c"}, tool, text, false}, {}});
    contents.append(std::move(c));
    return *this;
  }
  void answered(const model_response& response) {
    content c;
    c.role = role::model;
    c.parts = response.parts;
    contents.append(std::move(c));
    ++turn;
  }
};

struct stage {
  explicit stage(std::string_view yaml, const char* origin = "s.yaml") {
    auto loaded = load_scenario(yaml, origin, clock);
    if (!loaded)
      FAIL(loaded.failure().message);
    model = *loaded;
  }

  std::shared_ptr<test::recording_sink> start(const conversation& c, bool stream = false) {
    auto head = std::make_shared<prompt_head>();
    for (const auto& name : c.offers)
      head->tools.push_back({name, "", json::object()});
    auto request = std::make_shared<model_request>();
    request->head = std::move(head);
    request->contents = c.contents;
    request->agent = c.agent;
    request->turn = c.turn;
    request->stream = stream;
    auto sink = std::make_shared<test::recording_sink>();
    call = model->start(std::move(request), sink);
    CHECK_FALSE(sink->ended());
    return sink;
  }
  model_response ask(conversation& c) {
    auto sink = start(c);
    clock.advance(10s);
    if (!sink->response)
      FAIL((sink->failure ? sink->failure->message : "no answer"));
    c.answered(*sink->response);
    return *sink->response;
  }
  std::string text(const conversation& c) {
    auto sink = start(c);
    clock.advance(10s);
    return sink->failure ? "error: " + sink->failure->message : sink->text();
  }

  test::manual_timer clock;
  std::shared_ptr<model_provider> model;
  std::unique_ptr<model_call> call;
};

std::vector<std::pair<std::string, json>> calls_of(const model_response& response) {
  std::vector<std::pair<std::string, json>> out;
  for (const auto& part : response.parts)
    if (const auto* call = std::get_if<tool_call_part>(&part.value))
      out.emplace_back(call->name, json::parse(call->arguments));
  return out;
}

std::string template_text(const std::string& text, const std::string& result = "{}") {
  stage s{"rules:\n  - match: {text: '(?P<word>\\w+)'}\n    reply: {text: " + json(text).dump() + "}\n"};
  return s.text(conversation{"a", {}}.user("hello world").result("t", result));
}

} // namespace

TEST_CASE("the first rule that fits answers") {
  stage s{R"(
rules:
  - {match: {agent: "b*"}, reply: {text: by agent}}
  - {match: {turn: 1}, reply: {text: by turn}}
  - {match: {tool: look}, reply: {text: by tool}}
  - {match: {offers: dig}, reply: {text: by offer}}
  - {match: {text: "^count (?P<n>\\d+)$"}, reply: {text: "n is {{ n }}"}}
  - {reply: {text: "else {{ agent }} {{ turn }} {{ text }}"}}
)"};
  CHECK(s.text(conversation{"bob", {}}.user("x")) == "by agent");
  CHECK(s.text(conversation{"a", {}, {}, 1}.user("x")) == "by turn");
  CHECK(s.text(conversation{"a", {}}.user("x").result("look", "r")) == "by tool");
  CHECK(s.text(conversation{"a", {"dig"}}.user("x")) == "by offer");
  CHECK(s.text(conversation{"a", {}}.user("count 12")) == "n is 12");
  CHECK(s.text(conversation{"a", {}}.user("count x")) == "else a 0 count x");
}

TEST_CASE("no rule is a clear error that names the rules tried") {
  stage s{"rules:\n  - {name: only b, match: {agent: b}, reply: {text: x}}\n"};
  auto sink = s.start(conversation{"a", {}}.user("hi"));
  s.clock.advance(0ms);
  REQUIRE(sink->failure);
  CHECK(sink->failure->code == errc::model_bad_request);
  CHECK_FALSE(sink->failure->retryable);
  CHECK(sink->failure->message ==
        "No rule of the scenario s.yaml fits agent \"a\", turn 0, text \"hi\". Tried: \"only b\".");
}

TEST_CASE("templates take values out of the request and the results") {
  const char* list =
      R"({"items":[{"n":"a","v":2},{"n":"b","v":7},{"n":"c","v":5}],"inner":"{\"deep\":[1,2]}"})";
  struct row {
    const char* text;
    const char* out;
  };
  for (auto [text, out] :
       {row{"{{ word }}!", "hello!"}, row{"{{ count(results.t[0].items) }}", "3"},
        row{"{{ sum(results.t[0].items, 'v') }}", "14"},
        row{"{{ max_by(results.t[-1].items, \"v\").n }}", "b"},
        row{"{{ sort_by(results.t[0].items, 'v')[0].n }}", "a"},
        row{"{{ sort_by(results.t[0].items, 'v', 'desc')[1].n }}", "c"},
        row{"{{ results.t[0].inner.deep[1] }}", "2"}, row{"{{ results.t[0]['items'][9] }}", ""},
        row{"{{ results.t[0].none.none }}", ""}, row{"{{ count(results.other) }}", "0"},
        row{"{{ max_by(results.other, 'v').n }}", ""}, row{"{{ sum(results.other, 'v') }}", "0"},
        row{"{{ format('{:<4}|{:>4}|{}|{:slug}|{:json}', 'ab', 12, 1, 'My Dir-2', 'q') }}",
            "ab  |  12|1|my_dir_2|\"q\""},
        row{"{{ results.t[0].items[0] }}", R"({"n":"a","v":2})"}, row{"{ {x} }", "{ {x} }"}}) {
    const auto& tried = text;
    CAPTURE(tried);
    CHECK(template_text(text, list) == out);
  }
}

TEST_CASE("values of a wrong type are errors with the rule and its line") {
  struct row {
    const char* text;
    const char* message;
  };
  for (auto [text, message] :
       {row{"{{ count(results.t[0].x) }}", "count() wants a list, found \"y\""},
        row{"{{ sum(results.t, 'x') }}", "sum(): the field \"x\" holds \"y\", no number"},
        row{"{{ format('{}') }}", "too few values"}, row{"{{ format('{:q}', 1) }}", "unknown form"},
        row{"{{ results.t[results.t] }}", "an index is a whole number"}}) {
    const auto& tried = text;
    CAPTURE(tried);
    auto out = template_text(text, R"({"x":"y"})");
    CAPTURE(out);
    CHECK(out.starts_with("error: Scenario s.yaml:2, \"rule 1\": "));
    CHECK(out.find(message) != std::string::npos);
  }
}

TEST_CASE("calls are made for each item, with typed arguments") {
  stage s{R"(
rules:
  - reply:
      think: "hm"
      calls:
        - tool: work
          for_each: results.t[0].items
          where: {ok: true}
          args: {n: "{{ item.n }}", at: "{{ index }}", list: ["{{ item.v }}", x], text: "v{{ item.v }}"}
        - {tool: last}
)"};
  conversation c{"a", {}};
  c.user("x").result(
      "t", R"({"items":[{"n":"a","v":1,"ok":true},{"n":"b","v":2,"ok":false},{"n":"c","v":[3],"ok":true}]})");
  auto response = s.ask(c);
  CHECK(response.finish == finish_reason::tool_calls);
  CHECK(std::get<thought_part>(response.parts[0].value).text == "hm");
  auto calls = calls_of(response);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0] ==
        std::pair{std::string{"work"}, json::parse(R"({"n":"a","at":0,"list":[1,"x"],"text":"v1"})")});
  CHECK(calls[1].second == json::parse(R"({"n":"c","at":1,"list":[[3],"x"],"text":"v[3]"})"));
  CHECK(calls[2] == std::pair{std::string{"last"}, json::object()});
  CHECK(response.usage.output > 0);
}

TEST_CASE("answers come late, in pieces and never at once") {
  stage s{"rules:\n  - {latency: 100ms, chunks: 4, reply: {think: thinking, text: 0123456789abcdef0123}}\n"};
  auto sink = s.start(conversation{"a", {}}.user("x"), true);
  s.clock.advance(50ms);
  CHECK(sink->chunks.size() >= 2);
  CHECK_FALSE(sink->ended());
  s.clock.advance(50ms);
  REQUIRE(sink->response);
  std::string thought, text;
  for (const auto& chunk : sink->chunks)
    (chunk.thought ? thought : text) += chunk.text;
  CHECK(thought == "thinking");
  CHECK(text == sink->text());
  auto quiet = s.start(conversation{"a", {}}.user("x"), false);
  s.clock.advance(100ms);
  CHECK(quiet->chunks.empty());
  CHECK(quiet->response);
}

TEST_CASE("a call that is dropped says nothing more") {
  stage s{"rules:\n  - {latency: 100ms, chunks: 4, reply: {text: 0123456789abcdef}}\n"};
  auto sink = s.start(conversation{"a", {}}.user("x"), true);
  s.clock.advance(60ms);
  auto seen = sink->chunks.size();
  s.call.reset();
  CHECK(s.clock.waiting() == 0);
  s.clock.advance(1s);
  CHECK(sink->chunks.size() == seen);
  CHECK_FALSE(sink->ended());
}

TEST_CASE("random latency is the same each time and within its bounds") {
  auto latency = [](const std::string& text, int seed) {
    stage s{"rules:\n  - {latency: {min: 10ms, max: 50ms, seed: " + std::to_string(seed) +
            "}, reply: {text: x}}\n"};
    auto sink = s.start(conversation{"a", {}}.user(text));
    for (int ms = 0; ms <= 60; ++ms, s.clock.advance(1ms))
      if (sink->ended())
        return ms;
    return -1;
  };
  std::set<int> seen;
  for (int i = 0; i < 20; ++i) {
    auto ms = latency("t" + std::to_string(i), 1);
    CHECK(ms >= 10);
    CHECK(ms <= 50);
    CHECK(latency("t" + std::to_string(i), 1) == ms);
    seen.insert(ms);
  }
  CHECK(seen.size() > 5);
}

TEST_CASE("errors come as often as the rule says") {
  stage s{
      "rules:\n  - {error: {code: model_rate_limited, times: 2, retry_after: 1s}, reply: {text: fine}}\n"};
  for (int i = 0; i < 2; ++i) {
    auto sink = s.start(conversation{"a", {}}.user("x"));
    s.clock.advance(0ms);
    REQUIRE(sink->failure);
    CHECK(sink->failure->code == errc::model_rate_limited);
    CHECK(sink->failure->retryable);
    CHECK(sink->failure->retry_after == 1000ms);
  }
  CHECK(s.text(conversation{"a", {}}.user("x")) == "fine");
  stage always{"rules:\n  - {error: {code: model_auth}}\n"};
  CHECK(always.text(conversation{"a", {}}.user("x")).starts_with("error: "));
}

TEST_CASE("bad scenarios are refused with file and line") {
  struct row {
    const char* yaml;
    const char* message;
  };
  for (auto [yaml, message] :
       {row{"", "a list \"rules\""},
        row{"rules: []", "a list \"rules\""},
        row{"rules: [", "s.yaml:1: not valid YAML"},
        row{"rules:\n  - {}", "s.yaml:2: rules[0]: the rule has no reply"},
        row{"rules:\n  - {reply: {text: x}}\nrule: 1",
            "s.yaml:3: rule: unknown key. Did you mean \"rules\"?"},
        row{"rules:\n  - reply: {txt: x}", "Did you mean \"text\"?"},
        row{"rules:\n  - match: {text: \"(?=a)\"}\n    reply: {text: x}",
            "s.yaml:2: rules[0].match.text: not a regular"},
        row{"rules:\n  - reply:\n      text: \"{{ nam }}\"",
            "s.yaml:3: rules[0].reply.text: there is no value \"nam\""},
        row{"rules:\n  - reply: {text: \"{{ item }}\"}", "no value \"item\""},
        row{"rules:\n  - reply: {text: \"{{ x\"}", "not closed"},
        row{"rules:\n  - reply: {text: \"{{ eval(text) }}\"}", "no function \"eval\""},
        row{"rules:\n  - reply: {text: \"{{ count() }}\"}", "count() takes 1 to 1"},
        row{"rules:\n  - reply: {text: \"{{ text + 1 }}\"}", "something stands after the end"},
        row{"rules:\n  - reply: {text: \"{{ text[0 }}\"}", "\"]\" is missing"},
        row{"rules:\n  - reply: {text: \"{{ 'a }}\"}", "not closed"},
        row{"rules:\n  - reply: {calls: [{args: {}}]}", "\"tool\" is missing"},
        row{"rules:\n  - reply: {calls: [{tool: x, where: {a: 1}}]}", "beside for_each"},
        row{"rules:\n  - reply: {calls: x}", "expected a list of calls"},
        row{"rules:\n  - {latency: soon, reply: {text: x}}", "is not a duration"},
        row{"rules:\n  - {latency: {min: 2s, max: 1s}, reply: {text: x}}", "below min"},
        row{"rules:\n  - {error: {code: nope}}", "the name of an error"},
        row{"rules:\n  - {reply: {text: x, json: {a: 1}}}", "not both"},
        row{"rules:\n  - {chunks: 0, reply: {text: x}}", "from 1 to 1000"}}) {
    const auto& tried = yaml;
    CAPTURE(tried);
    test::manual_timer clock;
    auto loaded = load_scenario(yaml, "s.yaml", clock);
    REQUIRE(!loaded);
    CHECK(loaded.failure().code == errc::bad_config);
    CAPTURE(loaded.failure().message);
    CHECK(loaded.failure().message.find(message) != std::string::npos);
  }
}

TEST_CASE("deep expressions are refused") {
  test::manual_timer clock;
  std::string deep(5000, '[');
  CHECK_FALSE(load_scenario("rules:\n  - reply: {text: \"{{ text" + deep + " }}\"}", "s", clock));
  std::string nested = "text";
  for (int i = 0; i < 100; ++i)
    nested = "count(" + nested + ")";
  CHECK_FALSE(load_scenario("rules:\n  - reply: {text: \"{{ " + nested + " }}\"}", "s", clock));
}

TEST_CASE("the built-in scenario surveys a workspace and tells the true numbers") {
  test::temporary_folder folder;
  folder.write("src/a.cpp", "int a;\n// TODO one\n// FIXME two\n");
  folder.write("src/in/b.cpp", "x\n");
  folder.write("docs/My Page.md", "one\ntwo\nthree\nfour\nfive TODO\n");
  folder.write("docs/empty", "");
  folder.write("readme", "top\n");
  auto tools = *tools::file_tools(folder.path());
  tool_context context;
  context.notes = std::make_shared<agent_notes>();
  auto run = [&](const std::string& name, const json& arguments) {
    auto tool = std::find_if(tools.begin(), tools.end(), [&](const auto& t) { return t->name == name; });
    return (*tool)->run(arguments, context).text;
  };
  stage s{builtin_scenario(), "built-in"};
  conversation root{"root", {"list_directory", "spawn_subagent", "reviewer"}};
  root.user("Survey the workspace");
  auto first = calls_of(s.ask(root));
  REQUIRE(first.size() == 1);
  CHECK(first[0].first == "list_directory");
  root.result("list_directory", run("list_directory", first[0].second));

  auto second = calls_of(s.ask(root));
  REQUIRE(second.size() == 3);
  CHECK(
      second[0].second ==
      json::parse(
          R"({"name":"survey_0_docs","goal":"Survey the folder docs","tool_names":["glob","grep_search"]})"));
  CHECK(second[2].first == "reviewer");
  std::vector<std::string> answers;
  for (std::size_t i = 0; i < 2; ++i) {
    conversation child{second[i].second["name"], {"glob", "grep_search"}};
    child.user("Goal: " + second[i].second["goal"].get<std::string>() + "\nContext from parent: none");
    auto looks = calls_of(s.ask(child));
    REQUIRE(looks.size() == 2);
    for (const auto& [name, arguments] : looks)
      child.result(name, run(name, arguments));
    auto answer = s.text(child);
    answers.push_back(
        json{{"status", "completed"}, {"name", child.agent}, {"model", "m"}, {"result", answer}}.dump());
  }
  CHECK(
      json::parse(json::parse(answers[1])["result"].get<std::string>()) ==
      json::parse(
          R"({"folder":"src","files":2,"lines":4,"bytes":34,"longest":"src/a.cpp","longest_lines":3,"marks":2})"));
  root.results("spawn_subagent", answers);
  root.result("reviewer", s.text(conversation{"reviewer", {}}.user(second[2].second["request"])));
  CHECK(s.text(root) ==
        "Survey of 2 folders, the largest first:\n"
        "- docs                 2 files        5 lines     1 marks  longest: docs/My Page.md (5)\n"
        "- src                  2 files        4 lines     2 marks  longest: src/a.cpp (3)\n"
        "\nThe reviewer: The plan is sound. The folders do not depend on each other; compare their counts "
        "only when "
        "all are there.\n");
}

TEST_CASE("the built-in scenario tells everybody else how to configure a model") {
  stage s{builtin_scenario(), "built-in"};
  auto text = s.text(conversation{"root", {"list_directory", "spawn_subagent"}}.user("hello"));
  CHECK(text.find("You said: hello") != std::string::npos);
  CHECK(text.find("troupe.yaml") != std::string::npos);
  conversation task{"worker", {"finish_task"}};
  CHECK(calls_of(s.ask(task.user("do it")))[0].first == "finish_task");
}
