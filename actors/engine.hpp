// The engine port, carried out by actors.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/model_admission.hpp>
#include <troupe/runtime/ports/engine.hpp>
#include <troupe/runtime/ports/thread_lender.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe::actors {

// A model that agents of the engine can use.
struct engine_model {
  std::string id;
  std::shared_ptr<model_provider> provider;
  std::string model; // the provider's name
  model_limits limits;
  std::optional<std::uint32_t> max_output_tokens;
  model_price price{};
  std::vector<std::string> fallbacks; // ids of models that are tried in its place once it has failed for good
};

struct engine_options {
  std::size_t threads = 0;         // of the scheduler; 0: one for each usable processor
  std::size_t tool_threads = 0;    // 0: two for each of those, at least four
  thread_lender* lender = nullptr; // whose threads do what they bring; outlives the engine; null: none
  std::size_t max_stuck_workers = 16;
  std::chrono::milliseconds idle_after{60'000}; // then a session's actors go; the store keeps the session
  std::size_t max_resident = 10'000;            // sessions in memory, unless more of them have work
  activity_limits activity;
  std::shared_ptr<session_store> store;  // null: memory
  bool journal_thread = true;            // of its own, for a store that blocks; false only in tests
  std::function<timestamp()> wall_clock; // null: the system's
  std::string trace_seed; // of make_trace_seed; tools are then told the span of their call. Empty: none
};

// An engine that also takes new models while it runs.
class actor_engine : public engine {
 public:
  // Adds a model, or replaces the one with this id for runs that start later.
  virtual void add_model(engine_model model) = 0;
};

// The engine's threads end with it. Its destructor shuts down within a few seconds; a tool that never returns keeps its
// own thread and what it holds, nothing else.
[[nodiscard]] std::unique_ptr<actor_engine> make_engine(const engine_options& options);

} // namespace troupe::actors
