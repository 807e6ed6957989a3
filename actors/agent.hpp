// One agent: carries the turn machine's commands out and its inputs in.
//
// A child begins at once and ends with its outcome; a root agent waits for begin_run and lives on between runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/interfaces.hpp>
#include <troupe/actors/models.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace troupe::actors {

// What the agents of one session share. Immutable but for the counter.
struct session_context {
  session_id session;
  supervisor_handle supervisor;
  observer_handle observer;
  tool_pool_handle tools;
  std::shared_ptr<const shared_models> models;
  std::function<timestamp()> wall_clock;
  std::shared_ptr<const std::atomic<int>> watchers; // how many follow streamed pieces of any session
  std::string trace_seed;                           // empty: calls are told of no spans
  bool durable_at_once = true;                      // the store is memory: nothing to wait for
};

struct agent_start {
  std::shared_ptr<const session_context> context;
  agent_profile_ptr profile; // null for a root agent that waits for its first run
  agent_number number = 0;
  event_origin_ptr origin;
  std::shared_ptr<const input::start> begin; // a child's one run; null for the root
  std::shared_ptr<run_budget> budget;
  bool answerable = false;
  bool has_hooks = true;  // of a root without profile: whether its next run has; true where that is not known
  std::uint32_t hops = 0; // as in run_request
  std::shared_ptr<agent_state> restored; // folded from the log; null for a new agent
  bool resume = false;                   // take up what was under way
};

// Spawns the agent monitored by `supervisor`.
agent_handle spawn_agent(supervisor_handle::base* supervisor, agent_start start);

// Before a root agent is told to begin a run with this profile. `root` comes from spawn_agent.
void expect_run(const agent_handle& root, const agent_profile& profile);

} // namespace troupe::actors
