// troupe mcp: agents as an MCP server on stdin and stdout; troupe mcp list: what the configured MCP servers offer.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/mcp_server.hpp>
#include <troupe/runtime/surface.hpp>
#include <troupe/troupe.hpp>

#include <CLI/App.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "line_output.hpp"
#include "log_file.hpp"
#include "run_view.hpp"
#include "setup.hpp"
#include <poll.h>
#include <unistd.h>

namespace troupe::cli {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{16} << 20;
constexpr std::size_t max_waiting_bytes = std::size_t{64} << 20; // that the client has not read

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

// The end of the work: a signal, or a client that does not read.
class stop_pipe {
 public:
  stop_pipe() {
    if (pipe(fds_.data()) != 0)
      throw config_error{{errc::internal, "There is no pipe to be had."}};
  }
  ~stop_pipe() {
    close(fds_[0]);
    close(fds_[1]);
  }
  stop_pipe(const stop_pipe&) = delete;
  stop_pipe& operator=(const stop_pipe&) = delete;

  void stop() const { static_cast<void>(!write(fds_[1], "x", 1)); }
  [[nodiscard]] int fd() const noexcept { return fds_[0]; }

 private:
  std::array<int, 2> fds_{-1, -1};
};

// Takes lines from stdin until its end, or until the work is to end. False when a line is too long.
bool read_lines(const stop_pipe& stop, mcp_server& server) {
  std::array<char, 65'536> buffer{};
  for (;;) {
    std::array<pollfd, 2> wait{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{stop.fd(), POLLIN, 0}};
    if (poll(wait.data(), wait.size(), -1) < 0) {
      if (errno == EINTR)
        continue;
      return true;
    }
    if (wait[1].revents != 0)
      return true;
    const auto size = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      return true;
    if (!server.feed({buffer.data(), static_cast<std::size_t>(size)}))
      return false;
  }
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
  const stop_pipe stop;
  line_output output{STDOUT_FILENO, max_waiting_bytes, [&stop] { stop.stop(); }};
  options.write = [&output](std::string message) { output.write(std::move(message)); };
  runtime rt{std::move(prepared.runtime)};
  for (auto& one : declared) {
    options.agents.push_back(rt.create_deep_agent(std::move(one)));
    tell_about(options.agents.back());
  }
  mcp_server server{rt, std::move(options)};
  signals.on_signal([&stop] { stop.stop(); });
  const bool sound = read_lines(stop, server);
  server.close();
  signals.on_signal(nullptr);
  if (!sound)
    print_line(stderr, "The client sent a line of more than " + std::to_string(max_line_bytes) + " bytes.");
  return sound ? exit_completed : exit_failed;
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
