// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/agent_file.hpp>

#include <doctest/doctest.h>

#include <support/temporary_folder.hpp>

using namespace troupe;

static loaded_agents parsed(std::string_view text, bool strict = false) {
  return parse_agent_file(text, "a.md", definition_origin::project, {.strict = strict});
}

static std::string issues_of(std::string_view text, bool strict = false) {
  return join_issues(parsed(text, strict).issues, false);
}

TEST_CASE("a local agent has all its fields") {
  auto loaded = parsed(R"(---
kind: local
name: code-critic
display_name: Critic
description: Reviews code.
tools: [read_file, mcp_git_*, search_file_content, complete_task]
mcp_servers: {git: {command: git-server, args: [--stdio]}}
model: inherit
temperature: 0.2
max_turns: 5
timeout_mins: 3
mode: task
thinking: high
use_sandbox: true
skills: [style]
max_output_tokens: 500
output_schema: {type: object, properties: {verdict: {type: string}}}
---
You are a critic. Task: ${query}. Today is ${today}.
)");
  REQUIRE(join_issues(loaded.issues, false) == "");
  REQUIRE(loaded.definitions.size() == 1);
  const auto& d = loaded.definitions[0];
  CHECK(d.name == "code-critic");
  CHECK(d.display_name == "Critic");
  REQUIRE(d.tools);
  CHECK(d.tools->size() == 3);
  CHECK((*d.tools)[2].name() == "grep_search");
  REQUIRE(d.mcp_servers.size() == 1);
  CHECK(d.mcp_servers[0].name == "git");
  CHECK(d.mcp_servers[0].args == std::vector<std::string>{"--stdio"});
  CHECK(d.model.empty());
  CHECK(d.temperature == 0.2);
  CHECK(d.limits.max_turns == 5);
  CHECK(d.limits.timeout == std::chrono::minutes{3});
  CHECK(d.limits.max_output_tokens == 500);
  CHECK(d.mode == agent_mode::task);
  CHECK(d.thinking == thinking_level::high);
  CHECK(d.use_sandbox);
  CHECK(d.instruction == "You are a critic. Task: ${query}. Today is ${today}.");
  CHECK(d.input_schema["properties"].contains("query"));
  CHECK(d.output_schema["type"] == "object");
  CHECK(d.file == "a.md");
  CHECK(d.hash.size() == 16);
  CHECK(d.origin == definition_origin::project);
}

TEST_CASE("no tools and all tools are told apart") {
  CHECK_FALSE(parsed("---\nname: a\ndescription: d\n---\nx").definitions.at(0).tools);
  CHECK(parsed("---\nname: a\ndescription: d\ntools: []\n---\nx").definitions.at(0).tools->empty());
}

TEST_CASE("the frontmatter is found in spite of marks, blanks and line ends") {
  for (const char* text :
       {"\xEF\xBB\xBF---\nname: a\ndescription: d\n---\nbody", "---  \nname: a\ndescription: d\n--- \t\nbody",
        "---\r\nname: a\r\ndescription: d\r\n---\r\n\r\nbody\r\n",
        "---\nname: a\ndescription: d\n---\n\n  body  \n\n"}) {
    CAPTURE(text);
    auto loaded = parsed(text);
    CHECK(join_issues(loaded.issues, false) == "");
    REQUIRE(loaded.definitions.size() == 1);
    CHECK(loaded.definitions[0].instruction == "body");
  }
  CHECK(parsed("---\nname: a\ndescription: d\n---\r\none\r\ntwo").definitions.at(0).instruction ==
        "one\ntwo");
  CHECK(parsed("---\nname: a\ngoal: Do it.\n---").definitions.size() == 1);
}

TEST_CASE("bad files give an error with file, line and key") {
  struct row {
    const char* text;
    const char* message;
  };
  for (auto [text, message] :
       {row{"name: a", "a.md: the file must begin with a line \"---\""},
        row{"", "must begin"},
        row{"---\nname: a\n---x\n", "not closed"},
        row{"---\nname: [\n---\nx", "not valid YAML"},
        row{"---\nname: a\nname: b\n---\nx", "a.md:3: the key \"name\" stands here twice (first in line 1)"},
        row{"---\ndescription: d\n---\nx", "\"name\" is missing"},
        row{"---\nname: My Agent\ndescription: d\n---\nx", "lower-case letters"},
        row{"---\nname: user\ndescription: d\n---\nx", "kept for the person"},
        row{"---\nname: a\n---\nx", "\"description\" is missing"},
        row{"---\nname: a\ndescription: d\n---\n", "no instruction"},
        row{"---\nname: a\ndescription: d\nmax_turns: 0\n---\nx",
            "a.md:4: max_turns: expected a whole number from 1 to 10000, found \"0\"."},
        row{"---\nname: a\ndescription: d\nmax_turns: many\n---\nx", "found \"many\""},
        row{"---\nname: a\ndescription: d\ntools: read_file\n---\nx", "tools: expected a list of tool names"},
        row{"---\nname: a\ndescription: d\ntools: [\"read file\"]\n---\nx",
            "tools[0]: \"read file\" is no tool name"},
        row{"---\nname: a\ndescription: d\ntools: [invoke_agent]\n---\nx", "only for the root agent"},
        row{"---\nname: a\ndescription: d\nkind: other\n---\nx", "kind: expected local, remote or browser"},
        row{"---\nname: a\ndescription: d\ntemperature: 3\n---\nx", "from 0.0 to 2.0"},
        row{"---\nname: a\ndescription: d\nmode: turns\n---\nx", "single_turn or task"},
        row{"---\nname: a\ndescription: d\ninput_schema: {type: strin}\n---\nx", "Bad JSON Schema at /type"},
        row{"---\nname: a\ndescription: d\ninput_schema: {type: string}\n---\nx", "type: object"},
        row{"---\nname: a\ndescription: d\nmcp_servers: {}\nmcpServers: {}\n---\nx", "are the same key"},
        row{"---\nname: a\ndescription: d\n---\n\n\nUse ${quer} now",
            "a.md:7: Unknown placeholder ${quer} (line 7)"},
        row{"---\n- {name: a, description: d}\n---\nx", "only remote agents may stand in a list"},
        row{"---\njust text\n---\nx", "expected a map of keys and values"},
        row{"---\n&a [*a]\n---\nx", "refers to the value that it stands in"}}) {
    CAPTURE(text);
    auto loaded = parsed(text);
    CHECK(loaded.definitions.empty());
    auto all = join_issues(loaded.issues);
    CAPTURE(all);
    CHECK(all.find(message) != std::string::npos);
  }
}

TEST_CASE("an unknown key is a warning with the nearest key, and an error in strict mode") {
  const char* text = "---\nname: a\ndescription: d\nmax_turn: 3\n---\nx";
  CHECK(parsed(text).definitions.size() == 1);
  CHECK(issues_of(text) == "a.md:4: warning: max_turn: unknown key. Did you mean \"max_turns\"?");
  CHECK(parsed(text, true).definitions.empty());
  CHECK(issues_of(text, true) == "a.md:4: max_turn: unknown key. Did you mean \"max_turns\"?");
}

TEST_CASE("YAML that nests too deep or grows by aliases is refused") {
  auto deep = "---\nname: a\ntools: " + std::string(5000, '[') + std::string(5000, ']') + "\n---\nx";
  CHECK(issues_of(deep).find("nest deeper than 32 levels") != std::string::npos);
  std::string bomb = "---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    auto p = std::to_string(i - 1), n = std::to_string(i);
    bomb += "a" + n + ": &a" + n + " [*a" + p + ", *a" + p + ", *a" + p + ", *a" + p + ", *a" + p + ", *a" +
            p + "]\n";
  }
  CHECK(issues_of(bomb + "---\nx").find("more than 100000 values") != std::string::npos);
  auto large = "---\nname: a\ndescription: d\n---\n" + std::string(2 << 20, 'x');
  CHECK(issues_of(large).find("bytes") != std::string::npos);
}

TEST_CASE("remote agents are read, several in a file") {
  auto loaded = parsed(R"(---
- name: one
  agent_card_url: https://example.com/card
  auth: {type: apiKey, key: $KEY}
- kind: remote
  name: two
  agent_card_json: '{"name":"two"}'
---
)");
  CHECK(join_issues(loaded.issues, false) == "");
  REQUIRE(loaded.definitions.size() == 2);
  CHECK(loaded.definitions[0].kind == agent_kind::remote);
  CHECK(loaded.definitions[0].remote["auth"]["key"] == "$KEY");
  CHECK(loaded.definitions[1].remote["agent_card_json"]["name"] == "two");
}

TEST_CASE("a remote agent has its own keys") {
  auto loaded = parsed("---\nname: one\nagent_card_url: https://x/\nallow_private: true\nmax_concurrency: 3\n"
                       "max_hops: 2\ntimeout: 90s\nauth: {type: oauth2, token_url: https://t/, client_id: i, "
                       "client_secret: $S, scopes: [a, b]}\n---\n");
  CHECK(join_issues(loaded.issues, false) == "");
  REQUIRE(loaded.definitions.size() == 1);
  const auto& remote = loaded.definitions[0].remote;
  CHECK(remote["allow_private"] == true);
  CHECK(remote["max_concurrency"] == 3);
  CHECK(remote["max_hops"] == 2);
  CHECK(remote["timeout_ms"] == 90'000);
  CHECK(remote["auth"]["scopes"].size() == 2);
}

TEST_CASE("bad remote agents are refused") {
  struct row {
    const char* text;
    const char* message;
  };
  for (auto [text, message] :
       {row{"---\nkind: remote\nname: a\n---\n", "exactly one of"},
        row{"---\nname: a\nagent_card_url: https://x\nagent_card_json: '{}'\n---\n", "exactly one of"},
        row{"---\nname: a\nagent_card_url: ftp://x\n---\n", "begins with https://"},
        row{"---\nname: a\nagent_card_json: '{'\n---\n", "Not valid JSON"},
        row{"---\nname: a\nagent_card_url: https://x\nauth: {type: magic}\n---\n", "found \"magic\""},
        row{"---\nname: a\nagent_card_url: https://x\nauth: {type: http, scheme: Basic, username: u}\n---\n",
            "needs a token"},
        row{"---\nname: a\nagent_card_url: https://x\nauth: {type: google-credentials}\n---\n",
            "not supported"},
        row{"---\nname: a\nagent_card_url: https://x\nauth: {type: oauth2, token_url: https://t}\n---\n",
            "\"client_id\" is missing"},
        row{"---\nname: a\nagent_card_url: https://x\nauth: {type: apiKey}\n---\n", "\"key\" is missing"}}) {
    const auto& tried = text;
    CAPTURE(tried);
    CHECK(issues_of(text).find(message) != std::string::npos);
    CHECK(parsed(text).definitions.empty());
  }
}

TEST_CASE("a folder is read without links, folders and hidden drafts, and a bad file stops no other") {
  test::temporary_folder folder;
  folder.write("b.md", "---\nname: b\ndescription: d\n---\nx");
  folder.write("a.md", "nothing");
  folder.write("_draft.md", "---\nname: draft\ndescription: d\n---\nx");
  folder.write("notes.txt", "---\nname: notes\ndescription: d\n---\nx");
  folder.write("inner/c.md", "---\nname: c\ndescription: d\n---\nx");
  std::filesystem::create_symlink(folder.path() / "b.md", folder.path() / "link.md");
  std::filesystem::create_directory(folder.path() / "folder.md");
  auto loaded = load_agent_folder(folder.path(), definition_origin::user);
  REQUIRE(loaded.definitions.size() == 1);
  CHECK(loaded.definitions[0].name == "b");
  REQUIRE(loaded.issues.size() == 1);
  CHECK(loaded.issues[0].file == (folder.path() / "a.md").string());
  CHECK(load_agent_folder(folder.path() / "none", definition_origin::user).issues.empty());
  CHECK(load_agent_folder(folder.path() / "b.md", definition_origin::user).issues.size() == 1);
}

TEST_CASE("a prompt is mapped to the one property of the input") {
  CHECK(map_prompt(nlohmann::json::parse(R"({"properties":{"objective":{}}})"), "p").dump() ==
        R"({"objective":"p"})");
  CHECK(map_prompt(nlohmann::json::parse(R"({"properties":{"a":{},"b":{}}})"), "p").dump() ==
        R"({"prompt":"p"})");
  CHECK(map_prompt(nlohmann::json::parse(R"({"properties":[]})"), "p").dump() == R"({"prompt":"p"})");
  CHECK(map_prompt(nlohmann::json::object(), "").dump() == R"({"prompt":""})");
  CHECK(map_prompt(nullptr, "p").dump() == R"({"request":"p"})");
}
