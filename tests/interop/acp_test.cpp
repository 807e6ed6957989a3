// `troupe acp` with the Agent Client Protocol's own client.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "interop/node.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe::test;

TEST_CASE("the protocol's own client prompts, permits, answers, cancels and loads") {
  temporary_folder folder;
  if (!has_node(folder.path()))
    return;
  folder.write("troupe.yaml", R"(name: boss
model: played
models: {played: {provider: scenario, scenario: rules.yaml}}
tools: [request_input, list_directory, write_file]
spawn: {enabled: true}
policy: [{tool: write_file, agent: "*", decision: ask}]
)");
  folder.write("rules.yaml", R"(rules:
  - match: {agent: digger}
    reply: {text: "gold"}
  - match: {turn: 1, tool: request_input}
    reply: {text: "It is {{ results.request_input[-1] }}."}
  - match: {turn: 1, tool: list_directory}
    reply: {text: "{{ count(results.list_directory[-1].entries) }} entries"}
  - match: {turn: 1, tool: spawn_subagent}
    reply: {text: "The digger says: {{ results.spawn_subagent[-1].result }}"}
  - match: {turn: 1, tool: write_file}
    reply: {text: "Done: {{ results.write_file[-1] }}"}
  - match: {turn: 0, text: "^list"}
    reply: {calls: [{tool: list_directory, args: {path: "."}}]}
  - match: {turn: 0, text: "^delegate"}
    reply: {calls: [{tool: spawn_subagent, args: {name: digger, goal: dig}}]}
  - match: {turn: 0, text: "^write"}
    reply: {calls: [{tool: write_file, args: {path: out.txt, content: x}}]}
  - match: {turn: 0, text: "^ask"}
    reply: {calls: [{tool: request_input, args: {message: "Which one?"}}]}
  - match: {turn: 0, text: "^slow"}
    latency: 60s
    reply: {text: "late"}
  - reply: {text: "Hello."}
)");
  const auto ran = run_script(folder.path(), "acp.cjs", {TROUPE_PROGRAM, folder.path().string()});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out == "all steps passed\n");
}
