// The port to where sessions are kept: an append-only log of events for each session.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/result.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace troupe {

struct session_info {
  session_id session;
  std::uint64_t last_seq = 0;
  timestamp last_time{};
};

// What a read gives. `dropped` is set when events after `after` are no longer kept: the store says so rather than
// giving a log with a silent hole.
struct event_page {
  std::vector<event_batch_ptr> batches; // in order of seq; the first may begin before what was asked for
  bool dropped = false;
  bool more = false;           // the limit ended the page
  std::uint64_t last_seq = 0;  // of the session, whether or not its events are kept
  agent_number last_agent = 0; // the highest number of an agent so far
};

// Thread-safe. One writer a session (its supervisor).
class session_store {
 public:
  virtual ~session_store() = default;

  // True when append returns at once: the caller may be an actor. Otherwise only the journal calls it.
  [[nodiscard]] virtual bool immediate() const noexcept = 0;

  // Appends events whose seq go on densely from the last one. All of them are of one agent.
  virtual status append(const session_id& session, event_batch_ptr batch) = 0;

  // The events after seq `after`, at most about `limit` of them (whole batches).
  [[nodiscard]] virtual result<event_page> read(const session_id& session, std::uint64_t after,
                                                std::size_t limit) = 0;

  [[nodiscard]] virtual result<std::vector<session_info>> sessions() = 0;

  // Forgets a session; fails with not_found when there is none.
  virtual status remove(const session_id& session) = 0;
};

} // namespace troupe
