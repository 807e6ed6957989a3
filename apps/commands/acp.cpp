// troupe acp: an agent for editors, over standard input and output.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/editor_server.hpp>

#include <CLI/App.hpp>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
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

struct acp_arguments {
  setup_options setup;
  std::string log_file;
};

constexpr std::chrono::seconds settle_time{10};

constexpr const char* too_long_line =
    R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The line is too long."}})";

// The runtimes of the folders that the editor works in: one for each, with each set of MCP servers.
class places {
 public:
  explicit places(const acp_arguments& arguments) : arguments_(arguments) {}

  editor_place find(const std::string& folder, const std::vector<mcp_server_spec>& servers) {
    for (const auto& known : known_)
      if (known.folder == folder && known.servers == servers)
        return known.place;
    auto options = arguments_.setup;
    if (options.workspace.empty())
      options.workspace = folder;
    auto prepared = prepare(options);
    prepared.runtime.log = make_log(arguments_.log_file);
    prepared.runtime.at_shutdown = prepared.durable ? shutdown_mode::suspend : shutdown_mode::cancel;
    prepared.runtime.mcp_servers.insert(prepared.runtime.mcp_servers.end(), servers.begin(), servers.end());
    auto rt = std::make_shared<runtime>(std::move(prepared.runtime));
    auto root = rt->create_deep_agent(std::move(prepared.root));
    tell_about(root);
    known_.push_back({folder, servers, {std::move(rt), std::move(root)}});
    return known_.back().place;
  }

 private:
  const acp_arguments& arguments_;
  struct known_place {
    std::string folder;
    std::vector<mcp_server_spec> servers;
    editor_place place;
  };
  std::vector<known_place> known_; // bounded by the editor's sessions
};

int serve_editor(const acp_arguments& arguments, interrupt& signals) {
  // An editor that goes ends the input, too; writing to it shall not end us before.
  std::signal(SIGPIPE, SIG_IGN);
  places known{arguments};
  const stdio_input input;
  line_output out{STDOUT_FILENO, max_stdio_waiting, [&input] { input.stop(); }};
  editor_server server{[&known](const std::string& folder, const std::vector<mcp_server_spec>& servers) {
                         return known.find(folder, servers);
                       },
                       [&out](std::string line) { out.write(std::move(line)); }, TROUPE_VERSION};
  input.read_lines(
      signals, [&server](std::string line) { server.take(std::move(line)); },
      [&out] { out.write(too_long_line); });
  server.settle(settle_time);
  return exit_completed;
}

} // namespace

void add_acp(CLI::App& app, action& chosen, interrupt& signals) {
  auto arguments = std::make_shared<acp_arguments>();
  arguments->setup.keeps_sessions = true;
  auto* command = app.add_subcommand("acp", "Be the agent of an editor (Agent Client Protocol)");
  add_agent_options(*command, std::shared_ptr<setup_options>{arguments, &arguments->setup});
  command->add_option("--log", arguments->log_file, "A file for the log, as lines of JSON");
  command->callback([arguments, &chosen, &signals] {
    chosen = [arguments, &signals] { return serve_editor(*arguments, signals); };
  });
}

} // namespace troupe::cli
