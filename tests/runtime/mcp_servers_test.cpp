// MCP servers in configurations and agent files, and which agents get their tools.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/agent_file.hpp>
#include <troupe/runtime/config.hpp>
#include <troupe/runtime/profile_builder.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

struct source final : tool_source {
  explicit source(std::string n) : name_(std::move(n)) {}
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void open(std::function<void(result<std::vector<tool_ptr>>)> done) override {
    done(std::vector<tool_ptr>{});
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return 0; }
  std::string name_;
};

build_environment environment() {
  build_environment e;
  e.models = {{"m", ""}};
  e.sources = {std::make_shared<source>("git"), std::make_shared<source>("git_hub"),
               std::make_shared<source>("web")};
  return e;
}

root_spec root(std::vector<tool_ref> tools = {}) {
  root_spec r;
  r.model = "m";
  r.tools = std::move(tools);
  return r;
}

// "git:mcp_git_log web:" for the offers of a profile.
std::string offers(const agent_profile& p) {
  std::string out;
  for (const auto& o : p.offers) {
    out += (out.empty() ? "" : " ") + (o.shared ? o.shared->name() : "own") + ":";
    for (const auto& name : o.names)
      out += (out.back() == ':' ? "" : ",") + name;
  }
  return out;
}

agent_profile_ptr built(const root_spec& r, const build_environment& e = environment()) {
  auto made = build_root(r, e);
  REQUIRE_MESSAGE(made, (made ? "" : made.failure().message));
  return made->profile;
}

} // namespace

TEST_CASE("a server of the configuration has a command or a URL, and mistakes have their line") {
  auto loaded = parse_config(R"(mcp_servers:
  files: {command: srv, args: [a, b], env: {K: $V}, cwd: /x, timeout: 5s, startup_timeout: 1m, max_call_time: 1h}
  web: {url: "https://x/mcp", headers: {Authorization: Bearer $T}, include_tools: [a], exclude_tools: [b], trust: true, description: d}
)",
                             "t.yaml");
  REQUIRE(join_issues(loaded.issues, false) == "");
  REQUIRE(loaded.value.mcp_servers.size() == 2);
  const auto& files = loaded.value.mcp_servers[0];
  CHECK(files.args == std::vector<std::string>{"a", "b"});
  CHECK(files.env.at("K") == "$V");
  CHECK(files.timeout == 5s);
  CHECK(files.startup_timeout == 1min);
  CHECK(files.max_call_time == 1h);
  const auto& web = loaded.value.mcp_servers[1];
  CHECK(web.url == "https://x/mcp");
  CHECK(web.headers.at("Authorization") == "Bearer $T");
  CHECK(web.trust);

  struct row {
    const char* yaml;
    const char* says;
  };
  for (const auto& [yaml, says] :
       {row{"mcp_servers: [x]", "a map from the names"},
        row{"mcp_servers:\n  s: {}", "t.yaml:2: mcp_servers.s: a server has either"},
        row{"mcp_servers:\n  s: {command: a, url: http://x}", "either a command or a url"},
        row{"mcp_servers:\n  s: {url: ftp://x}", "http://"},
        row{"mcp_servers:\n  s p: {command: a}", "expected a name of letters"},
        row{"mcp_servers:\n  _s: {command: a}", "not beginning with"},
        row{"mcp_servers:\n  s: {command: a, comand: b}", "Did you mean"},
        row{"mcp_servers:\n  s: {command: a, timeout: 500}", "timeout"},
        row{"mcp_servers:\n  s: {command: a, env: [x]}", "a map from names"},
        row{"mcp_servers:\n  s: {httpUrl: http://x}", "httpUrl"}}) {
    const auto bad = parse_config(yaml, "t.yaml");
    CHECK_MESSAGE(has_errors(bad.issues), yaml);
    CHECK_MESSAGE(join_issues(bad.issues).find(says) != std::string::npos, join_issues(bad.issues));
    CHECK(bad.value.mcp_servers.empty());
  }
}

TEST_CASE("agent files may write servers as Gemini CLI does") {
  auto loaded = parse_agent_file(R"(---
name: a
description: d
mcp_servers:
  one: {httpUrl: "http://x/mcp", includeTools: [a], excludeTools: [b], timeout: 1500, trust: true, type: http}
  two: {command: srv, timeout: 3s}
---
Do it.
)",
                                 "a.md", definition_origin::project);
  REQUIRE(loaded.definitions.size() == 1);
  CHECK_FALSE(has_errors(loaded.issues));
  CHECK(loaded.issues.size() == 1); // type is told, and not used
  const auto& servers = loaded.definitions[0].mcp_servers;
  REQUIRE(servers.size() == 2);
  CHECK(servers[0].url == "http://x/mcp");
  CHECK(servers[0].include_tools == std::vector<std::string>{"a"});
  CHECK(servers[0].exclude_tools == std::vector<std::string>{"b"});
  CHECK(servers[0].timeout == 1500ms);
  CHECK(servers[1].timeout == 3s);
  CHECK(parse_agent_file("---\nname: a\ndescription: d\nmcp_servers: {s: {}}\n---\nx", "a.md",
                         definition_origin::project)
            .definitions.empty());
}

TEST_CASE("the root has all servers' tools unless its list names some") {
  CHECK(offers(*built(root())) == "git: git_hub: web:");
  CHECK(offers(*built(root({"*"}))) == "git: git_hub: web:");
  CHECK(offers(*built(root({"mcp_*"}))) == "git: git_hub: web:");
  CHECK(offers(*built(root({"mcp_web_*", "mcp_git_log"}))) == "git:mcp_git_log web:mcp_web_*");
  CHECK(offers(*built(root({"mcp_git_hub_list"}))) == "git_hub:mcp_git_hub_list");
  CHECK(build_root(root({"mcp_other_x"}), environment()).failure().code == errc::unknown_tool);
  CHECK(build_root(root({"mcp_other_*"}), environment())->warnings.size() == 1);
}

TEST_CASE("children have what their list names, and without a list what the root has") {
  auto r = root({"mcp_web_*"});
  r.subagents = {{.name = "none", .goal = "g"},
                 {.name = "some", .goal = "g", .tools = {"mcp_git_*"}},
                 {.name = "all", .goal = "g", .tools = {"*"}}};
  auto e = environment();
  auto file = std::make_shared<agent_definition>();
  file->name = "file";
  file->description = "d";
  file->instruction = "i";
  e.agents = {file};
  const auto p = built(r, e);
  CHECK(offers(*p->tools.at("none").child) == "");
  CHECK(offers(*p->tools.at("some").child) == "git:mcp_git_*");
  CHECK(offers(*p->tools.at("all").child) == "git: git_hub: web:");
  CHECK(offers(*p->delegates->agents.at("file")) == "web:mcp_web_*");
}

TEST_CASE("an agent's own servers are made for each instance, whatever its list says") {
  auto e = environment();
  int made = 0;
  e.make_source =
      [&made](const mcp_server_spec& spec) -> result<std::function<std::shared_ptr<tool_source>()>> {
    if (spec.name == "bad")
      return error{errc::bad_config, "MCP server 'bad' is bad."};
    return std::function<std::shared_ptr<tool_source>()>{
        [&made, name = spec.name]() -> std::shared_ptr<tool_source> {
          ++made;
          return std::make_shared<source>(name);
        }};
  };
  auto file = std::make_shared<agent_definition>();
  file->name = "file";
  file->description = "d";
  file->instruction = "i";
  file->tools = std::vector<tool_ref>{"mcp_own_look"};
  file->mcp_servers = {{.name = "own", .command = "x"}};
  auto broken = std::make_shared<agent_definition>(*file);
  broken->name = "broken";
  broken->tools.reset();
  broken->mcp_servers = {{.name = "bad", .command = "x"}};
  e.agents = {file, broken};
  auto built_all = build_root(root(), e);
  REQUIRE(built_all);
  const auto& child = *built_all->profile->delegates->agents.at("file");
  CHECK(offers(child) == "own:");
  CHECK(made == 0);
  CHECK(child.offers[0].make() != child.offers[0].make());
  CHECK(made == 2);
  REQUIRE(built_all->skipped.size() == 1);
  CHECK(built_all->skipped[0].find("is bad") != std::string::npos);
}

TEST_CASE("agents that are made up may be allowed tools of servers") {
  auto r = root();
  r.spawn = spawn_config{.tools = {"mcp_web_*"}, .allowed_tools = {"mcp_web_find", "mcp_git_*"}};
  CHECK(build_root(r, environment()));
  r.spawn->allowed_tools = {"mcp_other_find"};
  CHECK_FALSE(build_root(r, environment()));
  auto narrow = root({"mcp_git_*"});
  narrow.spawn = spawn_config{.tools = {"mcp_web_*"}};
  CHECK(build_root(narrow, environment())->warnings.size() == 1);
}
