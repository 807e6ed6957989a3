// troupe serve: the HTTP server.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/server.hpp>

#include <CLI/App.hpp>

#include <algorithm>
#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "log_file.hpp"
#include "run_view.hpp"
#include "setup.hpp"

namespace troupe::cli {
namespace {

struct serve_arguments {
  setup_options setup;
  std::string listen;
  std::string token_file;
  std::vector<std::string> allow_hosts;
  std::string web_root;
  std::string log_file;
  bool a2a = false;
};

server_options options_of(const serve_arguments& a, const setup& prepared) {
  server_options o;
  o.listen = !a.listen.empty() ? a.listen : !prepared.listen.empty() ? prepared.listen : o.listen;
  o.token_file = !a.token_file.empty() ? a.token_file : prepared.token_file;
  o.allow_hosts = prepared.allow_hosts;
  o.allow_hosts.insert(o.allow_hosts.end(), a.allow_hosts.begin(), a.allow_hosts.end());
  o.busy = prepared.busy;
  o.background = prepared.background;
  o.question_timeout = prepared.question_timeout;
  o.web_root = a.web_root;
  o.a2a = a.a2a || prepared.a2a;
  o.a2a_agents = prepared.a2a_agents;
  o.public_url = prepared.public_url;
  o.version = TROUPE_VERSION;
  return o;
}

// The root, and for programs that call over A2A the agents that it may delegate to, as far as they are offered.
std::vector<deep_agent> agents_of(const setup& prepared, const server_options& o) {
  if (!o.a2a)
    return {prepared.root};
  auto agents = served_agents(prepared);
  const auto is_offered = [&o](const std::string& name) {
    return o.a2a_agents.empty() ||
           std::find(o.a2a_agents.begin(), o.a2a_agents.end(), name) != o.a2a_agents.end();
  };
  agents.erase(std::remove_if(agents.begin() + 1, agents.end(),
                              [&](const deep_agent& a) { return !is_offered(a.name); }),
               agents.end());
  return agents;
}

int serve(const serve_arguments& arguments, interrupt& signals) {
  auto prepared = prepare(arguments.setup);
  auto options = options_of(arguments, prepared);
  prepared.runtime.log = make_log(arguments.log_file);
  // What still runs after the drain goes on with the next start, where its session is kept.
  prepared.runtime.at_shutdown = prepared.durable ? shutdown_mode::suspend : shutdown_mode::cancel;
  const auto limit = prepared.runtime.shutdown_timeout;
  auto declared = agents_of(prepared, options);
  runtime rt{std::move(prepared.runtime)};
  for (auto& one : declared) {
    options.agents.push_back(rt.create_deep_agent(std::move(one)));
    tell_about(options.agents.back());
  }
  server srv{rt, std::move(options)};
  std::promise<void> signalled;
  signals.on_signal([&signalled] { signalled.set_value(); });
  print_line(stderr, "Serving on " + srv.url() + " (Ctrl-C ends)");
  signalled.get_future().wait();
  srv.drain();
  print_line(stderr, "Draining: new work is refused, runs have " + std::to_string(limit.count() / 1000) +
                         " seconds. Ctrl-C ends at once.");
  const bool quiet = srv.wait_quiet(limit);
  srv.stop();
  if (!quiet)
    print_line(stderr, "Some runs were still under way.");
  signals.on_signal(nullptr);
  return exit_completed;
}

} // namespace

void add_serve(CLI::App& app, action& chosen, interrupt& signals) {
  auto arguments = std::make_shared<serve_arguments>();
  auto& a = *arguments;
  a.setup.keeps_sessions = true;
  auto* command = app.add_subcommand("serve", "Serve the HTTP API, its streams and the page");
  const std::shared_ptr<setup_options> setup{arguments, &arguments->setup};
  add_agent_options(*command, setup);
  add_telemetry_options(*command, setup);
  command->add_option("--listen", a.listen,
                      "Address and port; 127.0.0.1:8787 by default. Port 0 takes any free one");
  command->add_option(
      "--token-file", a.token_file,
      "File with the token that callers must know; needed where others can reach the address");
  command
      ->add_option("--allow-host", a.allow_hosts,
                   "Name that the server is called by, besides its address (may be given several times)")
      ->allow_extra_args(false);
  command->add_option("--web-root", a.web_root, "Folder of a page to serve at / in place of the dashboard");
  command->add_flag("--a2a", a.a2a, "Let agents of other programs call the agents, over A2A");
  command->add_option("--log", a.log_file, "File for the log, as lines of JSON");
  command->footer(
      "The API is described at /openapi.json. SIGTERM or Ctrl-C drains: new work is refused, runs have a\n"
      "moment to end, then the server ends with 0; a second signal ends at once.");
  command->callback([&chosen, &signals, arguments] {
    chosen = [&signals, arguments] { return serve(*arguments, signals); };
  });
}

} // namespace troupe::cli
