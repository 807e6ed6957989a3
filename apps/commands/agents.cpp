// troupe agents: what there is to delegate to, and whether it can be used.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/agent_file.hpp>
#include <troupe/runtime/agent_profile.hpp>
#include <troupe/runtime/surface.hpp>

#include <CLI/App.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "setup.hpp"

namespace troupe::cli {
namespace {

struct agents_arguments {
  setup_options setup;
  bool strict_files = false;
};

void print(const std::string& name, const std::string& kind, const std::string& model,
           const std::string& description) {
  std::printf("%-24s %-10s %-16s %s\n", shown(name).c_str(), kind.c_str(), shown(model).c_str(),
              shown(description).c_str());
}

int list_agents(const agents_arguments& arguments) {
  auto prepared = make_setup(arguments.setup);
  if (!prepared)
    throw config_error{prepared.failure()};
  runtime rt{prepared->runtime};
  auto root = rt.create_deep_agent(prepared->root);
  const auto& profile = root.profile();
  print(profile.name, "root", profile.model, profile.description);
  std::vector<agent_profile_ptr> children;
  for (const auto& [name, tool] : profile.tools)
    if (tool.child)
      children.push_back(tool.child);
  if (profile.delegates)
    for (const auto& [name, child] : profile.delegates->agents)
      children.push_back(child);
  std::sort(children.begin(), children.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
  for (const auto& child : children)
    print(child->name, child->kind, child->model, child->description);
  if (profile.delegates && profile.delegates->may_spawn)
    print("(spawn_subagent)", "spawned", "", "The root may make up agents for single jobs.");
  return exit_completed;
}

int check_agents(const agents_arguments& arguments) {
  auto prepared = make_setup(arguments.setup);
  if (!prepared)
    throw config_error{prepared.failure()};
  std::size_t errors = 0;
  auto tell = [&errors](const load_issue& issue) {
    errors += issue.is_error ? 1 : 0;
    std::fprintf(stderr, "%s: %s\n", issue.is_error ? "error" : "warning", shown(to_string(issue)).c_str());
  };
  std::size_t count = 0;
  if (!prepared->runtime.agents_folder.empty()) {
    agent_file_options how;
    how.strict = arguments.strict_files;
    auto loaded = load_agent_folder(prepared->runtime.agents_folder, definition_origin::project, how);
    for (const auto& issue : loaded.issues)
      tell(issue);
    count = loaded.definitions.size();
  }
  for (const auto& warning : prepared->warnings)
    std::fprintf(stderr, "warning: %s\n", shown(warning).c_str());
  runtime rt{prepared->runtime};
  auto root = rt.create_deep_agent(prepared->root);
  for (const auto& warning : root.warnings())
    std::fprintf(stderr, "warning: %s\n", shown(warning).c_str());
  for (const auto& skipped : root.skipped())
    std::fprintf(stderr, "error: %s\n", shown(skipped).c_str());
  errors += root.skipped().size();
  std::printf("%s: root agent '%s', %zu subagents, %zu agents from files, %zu errors\n",
              prepared->config_file.empty() ? "no configuration" : prepared->config_file.c_str(),
              root.profile().name.c_str(), prepared->root.subagents.size(), count, errors);
  return errors == 0 ? exit_completed : exit_usage;
}

} // namespace

void add_agents(CLI::App& app, action& chosen) {
  auto arguments = std::make_shared<agents_arguments>();
  auto* command = app.add_subcommand("agents", "Show or check the agents");
  command->require_subcommand(1);
  auto add = [&](const char* name, const char* what, int (*act)(const agents_arguments&)) {
    auto* sub = command->add_subcommand(name, what);
    sub->add_option("-c,--config", arguments->setup.config_file, "Configuration; troupe.yaml by default");
    sub->callback([&chosen, arguments, act] { chosen = [arguments, act] { return act(*arguments); }; });
    return sub;
  };
  add("list", "List the root agent and all that it may delegate to", list_agents);
  add("check", "Check the configuration and every agent file", check_agents)
      ->add_flag("--strict", arguments->strict_files, "Unknown keys of agent files are errors");
}

} // namespace troupe::cli
