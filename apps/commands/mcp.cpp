// troupe mcp: agents as an MCP server on stdin and stdout; troupe mcp list: what the configured MCP servers offer.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/mcp_server.hpp>
#include <troupe/runtime/surface.hpp>
#include <troupe/troupe.hpp>

#include <CLI/App.hpp>

#include <csignal>
#include <cstdio>
#include <future>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "line_output.hpp"
#include "log_file.hpp"
#include "run_view.hpp"
#include "setup.hpp"
#include "stdio_lines.hpp"
#include <unistd.h>

namespace troupe::cli {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{16} << 20;

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
      print_line(stdout, shown(sources[i]->name() + ": " + tools.failure().message));
      continue;
    }
    print_line(stdout, sources[i]->name() + ": " + std::to_string(tools->size()) + " tools");
    for (const auto& tool : *tools)
      std::printf("  %-40s %s\n", shown(tool->name).c_str(), shown(first_line(tool->description)).c_str());
  }
  return sound ? exit_completed : exit_failed;
}

int serve(const mcp_arguments& arguments, interrupt& signals) {
  std::signal(SIGPIPE, SIG_IGN);
  auto prepared = prepare(arguments.setup);
  prepared.runtime.log = make_log(arguments.log_file);
  prepared.runtime.at_shutdown = prepared.durable ? shutdown_mode::suspend : shutdown_mode::cancel;
  auto declared = served_agents(prepared);
  mcp_server_options options;
  options.version = TROUPE_VERSION;
  options.max_message_bytes = max_line_bytes;
  options.busy = prepared.busy;
  options.background = prepared.background;
  options.question_timeout = prepared.question_timeout;
  const stdio_input input;
  line_output output{STDOUT_FILENO, max_stdio_waiting, [&input] { input.stop(); }};
  options.write = [&output](std::string message) { output.write(std::move(message)); };
  runtime rt{std::move(prepared.runtime)};
  for (auto& one : declared) {
    options.agents.push_back(rt.create_deep_agent(std::move(one)));
    tell_about(options.agents.back());
  }
  mcp_server server{rt, std::move(options)};
  const auto end = input.read(signals, [&server](std::string_view bytes) { return server.feed(bytes); });
  server.close();
  if (end == stdio_end::refused)
    print_line(stderr, "The client sent a line of more than " + std::to_string(max_line_bytes) + " bytes.");
  return end == stdio_end::refused ? exit_failed : exit_completed;
}

} // namespace

void add_mcp(CLI::App& app, action& chosen, interrupt& signals) {
  auto arguments = std::make_shared<mcp_arguments>();
  arguments->setup.keeps_sessions = true;
  const std::shared_ptr<setup_options> setup{arguments, &arguments->setup};
  auto* command = app.add_subcommand("mcp", "Serve the agents over MCP on stdin and stdout");
  add_agent_options(*command, setup);
  add_telemetry_options(*command, setup);
  command->add_option("--log", arguments->log_file, "File for the log, as lines of JSON");
  command->footer("The root and each agent that it may delegate to are tools {prompt, session?}. The end of "
                  "stdin ends it.");
  command->callback([&chosen, &signals, arguments] {
    if (!chosen)
      chosen = [&signals, arguments] { return serve(*arguments, signals); };
  });
  auto* list = command->add_subcommand(
      "list", "Start the configured MCP servers and list their tools, or what is wrong");
  auto listed = std::make_shared<mcp_arguments>();
  list->add_option("-c,--config", listed->setup.config_file, "Configuration; troupe.yaml by default");
  list->add_option("--log", listed->log_file, "File for the log, as lines of JSON");
  list->callback([&chosen, listed] { chosen = [listed] { return list_servers(*listed); }; });
}

} // namespace troupe::cli
