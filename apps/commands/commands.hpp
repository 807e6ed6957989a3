// The subcommands: each adds its options to the command line and is run when it was chosen.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "interrupt.hpp"

namespace CLI {
class App;
}

namespace troupe::cli {

// What the chosen command does; gives the exit code.
using action = std::function<int()>;

void add_run(CLI::App& app, action& chosen, interrupt& signals);
void add_sessions(CLI::App& app, action& chosen, interrupt& signals);
void add_answer(CLI::App& app, action& chosen, interrupt& signals);
void add_serve(CLI::App& app, action& chosen, interrupt& signals);
void add_acp(CLI::App& app, action& chosen, interrupt& signals);
void add_chat(CLI::App& app, action& chosen, interrupt& signals);
void add_top(CLI::App& app, action& chosen);
void add_agents(CLI::App& app, action& chosen);
void add_models(CLI::App& app, action& chosen);
void add_mcp(CLI::App& app, action& chosen, interrupt& signals);
#ifdef TROUPE_WITH_BENCH
void add_bench(CLI::App& app, action& chosen);
#endif

struct setup_options;

// The options that say which agent it is: configuration, agent, model, workspace, store.
void add_agent_options(CLI::App& command, const std::shared_ptr<setup_options>& setup);

// --record and --replay.
void add_tape_options(CLI::App& command, const std::shared_ptr<setup_options>& setup);

// --events-file.
void add_telemetry_options(CLI::App& command, const std::shared_ptr<setup_options>& setup);

} // namespace troupe::cli
