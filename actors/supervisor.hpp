// One session: orders its events, starts its root agent and its children, watches them, keeps their limits and routes
// steering, answers and cancellation. It is the only writer of the session's log.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/agent.hpp>
#include <troupe/actors/interfaces.hpp>
#include <troupe/actors/observer.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace troupe::actors {

struct supervisor_options {
  std::chrono::milliseconds idle_after{60'000}; // without work for this long, the supervisor offers to end
  std::uint32_t max_root_restarts = 3;          // within restart_window; then the run fails with `crashed`
  std::chrono::milliseconds restart_window{60'000};
  std::size_t max_waiting_runs = 1000;
  std::size_t max_resident = 10'000; // sessions in memory, unless more of them have work
  std::size_t keep_tasks = 1000;     // background tasks that have ended and stay in the list
};

// What supervisors share.
struct supervisor_environment {
  std::shared_ptr<session_store> store;
  journal_handle journal; // null when the store is immediate
  std::string owner;      // of the sessions that are opened here; see open_options
  observer_handle observer;
  std::shared_ptr<observer_link> observed; // what it shares with supervisors
  tool_pool_handle tools;
  std::shared_ptr<const shared_models> models;
  std::function<timestamp()> wall_clock;
  std::shared_ptr<const std::atomic<int>> watchers;
  std::string trace_seed; // empty: calls are told of no spans
  supervisor_options options;
};

// Spawns the supervisor of `session`, monitored by `owner`. A session that the store knows goes on where it ended.
supervisor_handle spawn_supervisor(sessions_handle::base* owner, session_id session,
                                   std::shared_ptr<const supervisor_environment> environment);

} // namespace troupe::actors
