// SPDX-License-Identifier: Apache-2.0
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdio>
#include <exception>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include <sys/resource.h>

namespace {

// An agent may hold a connection of its own, so the soft limit of open files is too low for many of them.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int run_program(int count, char** arguments) {
  troupe::cli::interrupt signals;
  CLI::App app{"troupe runs LLM agents: a root agent that delegates to subagents, many in parallel."};
  app.set_version_flag("--version", "troupe " TROUPE_VERSION);
  app.require_subcommand(1);
  troupe::cli::action chosen;
  troupe::cli::add_run(app, chosen, signals);
  troupe::cli::add_chat(app, chosen, signals);
  troupe::cli::add_serve(app, chosen, signals);
  troupe::cli::add_acp(app, chosen, signals);
  troupe::cli::add_sessions(app, chosen, signals);
  troupe::cli::add_answer(app, chosen, signals);
  troupe::cli::add_top(app, chosen);
  troupe::cli::add_agents(app, chosen);
  troupe::cli::add_models(app, chosen);
  troupe::cli::add_mcp(app, chosen, signals);
#ifdef TROUPE_WITH_BENCH
  troupe::cli::add_bench(app, chosen);
#endif
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? troupe::cli::exit_completed : troupe::cli::exit_usage;
  }
  const int code = chosen();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "troupe: the output could not be written.\n");
    return code == troupe::cli::exit_completed ? troupe::cli::exit_failed : code;
  }
  return code;
}

} // namespace

int main(int count, char** arguments) {
  try {
    raise_file_limit();
    return run_program(count, arguments);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "troupe: %s\n", e.what());
    return troupe::cli::exit_usage;
  }
}
