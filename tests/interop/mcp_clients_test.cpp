// Clients of others call our agents: both SDKs, and the inspector's command line.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "interop/node.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe::test;
using nlohmann::json;

namespace {

constexpr const char* configuration = R"(name: boss
description: Leads.
model: played
models: {played: {provider: scenario, scenario: rules.yaml}}
tools: [request_input]
subagents: [{name: critic, goal: Find faults.}]
session: {store: memory}
)";

constexpr const char* rules = R"(rules:
  - match: {tool: request_input}
    reply: {text: "It is {{ results.request_input[-1] }}."}
  - match: {turn: 0, text: "ask"}
    reply: {calls: [{tool: request_input, args: {message: "Which one?"}}]}
  - latency: 200ms
    reply: {text: "Hello."}
)";

std::string configured(const temporary_folder& folder) {
  folder.write("troupe.yaml", configuration);
  folder.write("rules.yaml", rules);
  return (folder.path() / "troupe.yaml").string();
}

} // namespace

TEST_CASE("the SDKs of both revisions call our agents, and answer their questions") {
  temporary_folder folder;
  if (!has_node(folder.path()))
    return;
  const auto config = configured(folder);
  for (const std::string which : {"v1", "v2"}) {
    CAPTURE(which);
    const auto ran = run_script(folder.path(), "mcp_client.cjs", {which, TROUPE_PROGRAM, config});
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    std::map<std::string, json> steps;
    std::istringstream lines{ran.out};
    for (std::string line; std::getline(lines, line);) {
      const auto said = json::parse(line);
      steps[said["step"]] = said["value"];
    }
    CHECK(steps["version"] == (which == "v2" ? json("2026-07-28") : json{}));
    CHECK(steps["tools"] == json{"boss", "critic"});
    CHECK(steps["hello"]["status"] == "completed");
    CHECK(steps["hello"]["text"] == "Hello.");
    CHECK(steps["hello"]["usage"].is_object());
    CHECK(steps["question"]["asked"] == json{"Which one?"});
    CHECK(steps["question"]["text"].get<std::string>().find("the red one") != std::string::npos);
    CHECK(steps["again"] == true);
    // The clients drop what comes in one piece with the result.
    CHECK(steps["progress"].size() >= 2);
    CHECK(steps["progress"][0] == "boss starts");
    CHECK(steps["unknown"] == -32602);
  }
}

TEST_CASE("the inspector lists and calls our agents") {
  temporary_folder folder;
  if (!has_node(folder.path()))
    return;
  const auto config = configured(folder);
  const auto inspect = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"/usr/bin/env",
                                 "node",
                                 TROUPE_NODE_MODULES "/@modelcontextprotocol/inspector-cli/build/cli.js",
                                 "--cli",
                                 TROUPE_PROGRAM,
                                 "mcp",
                                 "-c",
                                 config};
    all.insert(all.end(), more.begin(), more.end());
    const auto ran = run_program(folder.path(), std::move(all));
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    return json::parse(ran.out);
  };
  CHECK(inspect({"--method", "tools/list"})["tools"].size() == 2);
  const auto said = inspect({"--method", "tools/call", "--tool-name", "boss", "--tool-arg", "prompt=hello"});
  CHECK(said["content"][0]["text"] == "Hello.");
}
