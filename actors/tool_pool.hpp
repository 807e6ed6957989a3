// Runs tools off the scheduler, on threads that may block; tools that only wait (tool_definition::start) take no thread.
//
// A call that passes its deadline is answered with `timeout` and asked to stop; while its thread still hangs it counts as
// stuck and another thread takes its place, up to max_stuck_workers. Beyond that, calls that need a thread fail at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/interfaces.hpp>
#include <troupe/actors/observer.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <cstddef>
#include <memory>

namespace troupe::actors {

struct tool_pool_options {
  std::size_t workers = 0; // threads; 0: two a core, at least four
  std::size_t max_stuck_workers = 16;
  std::size_t max_jobs = 100'000; // that run or wait
};

// The threads, which outlive the actor system so that a stuck one can be left behind.
[[nodiscard]] std::shared_ptr<worker_threads> make_tool_threads(const tool_pool_options& options);

tool_pool_handle spawn_tool_pool(caf::actor_system& system, std::shared_ptr<worker_threads> threads,
                                 tool_pool_options options,
                                 std::shared_ptr<observer_link> observed = nullptr);

} // namespace troupe::actors
