// Writes events durably, many at a time: what comes while one commit is under way goes into the next.
//
// One a store that blocks; a store that does not is written by the supervisors themselves.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/interfaces.hpp>

#include <cstddef>
#include <memory>

namespace troupe::actors {

struct journal_options {
  std::size_t max_batches = 4096; // of one commit
  bool detached = true;           // a thread of its own; tests run it on their scheduler
};

// The actor is monitored by nobody: a supervisor that waits for it learns of its end through its own monitor.
journal_handle spawn_journal(caf::actor_system& system, std::shared_ptr<session_store> store,
                             const journal_options& options = {});

// What a session's log holds, read to its end. Blocks as the store does.
[[nodiscard]] result<session_contents> read_contents(session_store& store, const session_id& session,
                                                     const std::optional<open_options>& open);

} // namespace troupe::actors
