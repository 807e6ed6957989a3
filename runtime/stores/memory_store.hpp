// Sessions in memory, for as long as the process lives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>

#include <cstddef>
#include <memory>

namespace troupe {

struct memory_store_options {
  // Events kept for each session. Beyond it the inner events of ended children go, oldest child first: their results
  // stand in their parents' events, which always stay.
  std::size_t max_events = 100'000;
};

[[nodiscard]] std::shared_ptr<session_store> make_memory_store(memory_store_options options = {});

} // namespace troupe
