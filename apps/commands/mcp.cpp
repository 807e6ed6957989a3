// troupe mcp: what the configured MCP servers offer.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/surface.hpp>
#include <troupe/troupe.hpp>

#include <CLI/App.hpp>

#include <cstdio>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "log_file.hpp"
#include "run_view.hpp"
#include "setup.hpp"

namespace troupe::cli {
namespace {

struct mcp_arguments {
  setup_options setup;
  std::string log_file;
};

using listing = std::future<result<std::vector<tool_ptr>>>;

listing open_source(tool_source& source) {
  auto done = std::make_shared<std::promise<result<std::vector<tool_ptr>>>>();
  source.open([done](result<std::vector<tool_ptr>> tools) { done->set_value(std::move(tools)); });
  return done->get_future();
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// All servers start at once; each has its own time limit.
int list_servers(const mcp_arguments& arguments) {
  auto prepared = prepare(arguments.setup);
  prepared.runtime.log = make_log(arguments.log_file);
  runtime rt{std::move(prepared.runtime)};
  const auto sources = rt.tool_sources();
  if (sources.empty())
    print_line(stderr, "The configuration has no mcp_servers.");
  std::vector<listing> open;
  for (const auto& source : sources)
    open.push_back(open_source(*source));
  bool sound = true;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto tools = open[i].get();
    if (!tools) {
      sound = false;
      print_line(stdout, sources[i]->name() + ": " + tools.failure().message);
      continue;
    }
    print_line(stdout, sources[i]->name() + ": " + std::to_string(tools->size()) + " tools");
    for (const auto& tool : *tools)
      std::printf("  %-40s %s\n", shown(tool->name).c_str(), shown(first_line(tool->description)).c_str());
  }
  return sound ? exit_completed : exit_failed;
}

} // namespace

void add_mcp(CLI::App& app, action& chosen) {
  auto arguments = std::make_shared<mcp_arguments>();
  auto* command = app.add_subcommand("mcp", "Show the MCP servers that tools come from");
  command->require_subcommand(1);
  auto* list =
      command->add_subcommand("list", "Start the configured servers and list their tools, or what is wrong");
  list->add_option("-c,--config", arguments->setup.config_file, "Configuration; troupe.yaml by default");
  list->add_option("--log", arguments->log_file, "File for the log, as lines of JSON");
  list->callback([&chosen, arguments] { chosen = [arguments] { return list_servers(*arguments); }; });
}

} // namespace troupe::cli
