// The smallest program with a whole troupe: a root agent, a prebuilt reviewer, and subagents that the root makes up.
//
//   embed_minimal [WORKSPACE]
//
// It plays the embedded scenario model, which needs no key and no network. For a real model, name one:
//
//   troupe::runtime rt{{.models = {{.id = "fast", .provider = "openai", .model = "qwen3",
//                                   .base_url = "http://127.0.0.1:11434/v1"}}}};
//
// and give the agent `.model = "fast"`.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <exception>
#include <iostream>

namespace {

int survey(const char* workspace) {
  troupe::runtime rt{{.workspace = workspace}}; // owns threads, stores, connections; ends them on scope exit
  auto analyst = rt.create_deep_agent({
      .name = "analyst",
      .instruction = "Break large analyses into focused delegated tasks.",
      .tools = {"list_directory", "glob", "grep_search"},
      .subagents = {{.name = "reviewer", .goal = "Review drafts for errors."}},
      .spawn = troupe::spawn_config{.allowed_tools = {"glob", "grep_search"}},
  });
  auto run = analyst.run("Survey the workspace");
  for (const troupe::event& e : run) // until the run ends
    std::cout << troupe::to_line(e) << '\n';
  std::cout << '\n' << run.outcome().text() << '\n';
  return run.outcome().completed() ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
  try {
    return survey(count > 1 ? arguments[1] : ".");
  } catch (const std::exception& e) {
    std::cerr << "embed_minimal: " << e.what() << '\n';
    return 2;
  }
}
