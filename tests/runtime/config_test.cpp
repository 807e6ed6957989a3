// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/config.hpp>
#include <troupe/runtime/duration_text.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace troupe;
using namespace std::chrono_literals;

static std::string issues_of(std::string_view yaml) {
  return join_issues(parse_config(yaml, "troupe.yaml").issues, false);
}

TEST_CASE("a whole configuration is read") {
  auto loaded = parse_config(R"(
name: analyst
model: fast
instruction: Break large analyses into focused delegated tasks.
models:
  fast:   {provider: openai, model: qwen3, base_url: "http://127.0.0.1:11434/v1"}
  strong: {provider: gemini, model: gemini-3-pro, api_key_env: GEMINI_API_KEY, description: Hard reasoning.}
tools: [read_file, grep_search]
subagents:
  - {name: reviewer, goal: Review drafts for errors., model: strong, thinking: high, mode: task, use_sandbox: true, skills: [style-guide], limits: {max_turns: 3}}
spawn: {enabled: true, tools: [fetch_url], allowed_tools: [grep_search, fetch_url], skills: [style-guide]}
sandbox: {backend: bubblewrap, workspace: ./work, network: false}
mcp_servers: {files: {command: mcp-server-filesystem, args: [./data]}}
policy: [{tool: "write_*", agent: "*", decision: ask}]
limits: {max_turns: 40, timeout: 5m, grace: 1h30m, max_children: 500, max_background: 6, budget_tokens: 2000000}
session: {store: "sqlite:troupe.db"}
)",
                             "troupe.yaml");
  REQUIRE(join_issues(loaded.issues, false) == "");
  const auto& c = loaded.value;
  CHECK(c.name == "analyst");
  CHECK(c.model == "fast");
  REQUIRE(c.models.size() == 2);
  CHECK(c.models[0].id == "fast");
  CHECK(c.models[1].api_key_env == "GEMINI_API_KEY");
  REQUIRE(c.tools);
  CHECK(c.tools->size() == 2);
  REQUIRE(c.subagents.size() == 1);
  CHECK(c.subagents[0].thinking == thinking_level::high);
  CHECK(c.subagents[0].mode == agent_mode::task);
  CHECK(c.subagents[0].limits.max_turns == 3);
  REQUIRE(c.spawn);
  CHECK(c.spawn->allowed_tools == std::vector<std::string>{"grep_search", "fetch_url"});
  CHECK(c.sandbox.backend == sandbox_backend::bubblewrap);
  REQUIRE(c.mcp_servers.size() == 1);
  CHECK(c.mcp_servers[0].name == "files");
  CHECK(c.mcp_servers[0].args == std::vector<std::string>{"./data"});
  CHECK(c.policy.at(0).decision == policy_decision::ask);
  CHECK(c.limits.max_turns == 40);
  CHECK(c.limits.timeout == 5min);
  CHECK(c.limits.grace == 90min);
  CHECK(c.run.max_children == 500);
  CHECK(c.run.budget_tokens == 2'000'000);
  CHECK(c.session.store == "sqlite:troupe.db");
}

TEST_CASE("an empty configuration is the defaults") {
  for (const char* text : {"", "\n# nothing\n", "---\n"}) {
    auto loaded = parse_config(text, "troupe.yaml");
    CHECK(join_issues(loaded.issues, false) == "");
    CHECK(loaded.value.name == "root");
    CHECK(loaded.value.limits == agent_limits{});
    CHECK_FALSE(loaded.value.spawn);
    CHECK_FALSE(loaded.value.tools);
  }
}

TEST_CASE("mistakes are told with file, line, key and what would be right") {
  struct row {
    const char* yaml;
    const char* message;
  };
  for (auto [yaml, message] :
       {row{"nam: x", "troupe.yaml:1: nam: unknown key. Did you mean \"name\"?"},
        row{"limits:\n  max_turn: 3",
            "troupe.yaml:2: limits.max_turn: unknown key. Did you mean \"max_turns\"?"},
        row{"limits: {timeout: 10}", "limits.timeout: \"10\" is not a duration"},
        row{"limits: {timeout: 10 minutes}", "write a number with a unit"},
        row{"limits: 3", "a map of limits"},
        row{"limits: {max_turns: 0}", "from 1 to 1000000, found \"0\""},
        row{"\n\ntools: read_file",
            "troupe.yaml:3: tools: expected a list of tool names, found \"read_file\"."},
        row{"model: fast", "troupe.yaml:1: model: there is no model \"fast\" under models; there are: none."},
        row{"models: {fast: {provider: openai}}\nmodel: fasd", "Did you mean \"fast\"?"},
        row{"models: {fast: {model: x}}", "models.fast: the key \"provider\" is missing"},
        row{"models: {fast: {provider: openai, api_key: k}}", "write api_key_env"},
        row{"models: {fast: {provider: openai, base_url: here}}", "begins with http://"},
        row{"models: {fast: {provider: openai, options: [a]}}",
            "fast.options: expected a map from the names of options"},
        row{"models: {fast: {provider: openai, options: {\n  a: [x]}}}",
            "yaml:2: models.fast.options.a: expected"},
        row{"models: {fast: {provider: openai, headers: a}}", "a map from the names of header lines"},
        row{"models: [fast]", "a map from the ids of models"},
        row{"name: my agent", "letters, digits"},
        row{"name: user", "not \"user\""},
        row{"name: a\nsubagents: [{name: a, goal: g}]", "already an agent \"a\""},
        row{"subagents: [{name: root, goal: g}]", "already an agent \"root\""},
        row{"subagents: [{goal: g}]", "subagents[0]: the key \"name\" is missing"},
        row{"subagents: [{name: a}]", "a goal or an instruction"},
        row{"subagents: [{name: a, goal: g, model: big}]", "subagents[0].model: there is no model \"big\""},
        row{"subagents: [{name: a, goal: g, limits: {max_children: 3}}]", "limits.max_children: unknown key"},
        row{"subagents: [{name: a, goal: g, input_schema: {type: array}}]", "type: object"},
        row{"subagents: {a: 1}", "expected a list of subagents, found a map."},
        row{"policy: [{tool: x}]", "\"decision\" is missing"},
        row{"policy: [{tool: x, decision: maybe}]", "allow, deny or ask, found \"maybe\""},
        row{"policy: [{decision: deny, arguments_pattern: \"(\"}]", "RE2"},
        row{"policy: [{decision: deny, arguments: [a]}]", "a map from arguments to globs"},
        row{"sandbox: {backend: docker}", "none, bubblewrap or process"},
        row{"session: {store: postgres}", "sqlite:"},
        row{"spawn: {enabled: 1}", "spawn.enabled: expected true or false"},
        row{"thinking: much", "medium or high"},
        row{"output_schema: {type: nope}", "Bad JSON Schema"},
        row{"a: [", "troupe.yaml:1: not valid YAML"},
        row{"[1]", "expected a map of keys and values"},
        row{"name: a\nname: b", "stands here twice"},
        row{"name: a\n---\nname: b", "more than one document"},
        row{"name: \xff", "not UTF-8"}}) {
    CAPTURE(yaml);
    auto text = issues_of(yaml);
    CAPTURE(text);
    CHECK(has_errors(parse_config(yaml, "f").issues));
    CHECK(text.find(message) != std::string::npos);
  }
}

TEST_CASE("all mistakes of a file are told at once") {
  CHECK(parse_config("nam: x\nlimits: {max_turns: no, grace: no}\ntools: 1", "f").issues.size() == 4);
}

TEST_CASE("unknown keys are warnings when that is wanted") {
  auto loaded = parse_config("nam: x", "f", {.strict = false});
  REQUIRE(loaded.issues.size() == 1);
  CHECK_FALSE(has_errors(loaded.issues));
}

TEST_CASE("the reference in the docs is made from the keys") {
  std::ifstream in{std::filesystem::path{TROUPE_TEST_DATA}.parent_path().parent_path() / "docs/config.md"};
  std::ostringstream text;
  text << in.rdbuf();
  const auto made = config_reference_markdown();
  if (text.str() == made)
    return;
  std::ofstream{"config.md"} << made;
  FAIL("docs/config.md is out of date: copy " << std::filesystem::absolute("config.md") << " over it.");
}

TEST_CASE("durations are read and written") {
  struct row {
    const char* text;
    std::chrono::milliseconds value;
  };
  for (auto [text, value] : {row{"0", 0ms}, row{"500ms", 500ms}, row{"60s", 60s}, row{"10m", 10min},
                             row{"1h30m", 90min}, row{"1d2h3m4s5ms", 24h + 2h + 3min + 4s + 5ms}}) {
    const auto& tried = text;
    CAPTURE(tried);
    REQUIRE(parse_duration(text));
    CHECK(*parse_duration(text) == value);
    CHECK(*parse_duration(duration_text(value)) == value);
  }
  for (const char* text :
       {"", "10", "s", "-1s", "1.5s", "1s1h", "1s1s", "10 s", "400d", "99999999999999999999s", "1x"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}
