// The newest events of all sessions, for those who follow them: bounded in number and bytes, whatever comes.
//
// Positions count events and are never 0; a reader keeps the position of what it has seen and is told how many it missed.
//
// Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace troupe {

class event_ring {
 public:
  event_ring(std::size_t max_events, std::size_t max_bytes)
      : max_events_(max_events), max_bytes_(max_bytes) {}

  void push(event_ptr e);

  // Events that came and never got here.
  void skip(std::uint64_t events);

  [[nodiscard]] recent_events read(const event_query& query) const;

  void clear();
  [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct record {
    std::uint64_t position;
    std::size_t bytes;
    event_ptr what;
  };

  std::size_t max_events_;
  std::size_t max_bytes_;
  std::deque<record> kept_; // positions have gaps where events were skipped
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 1;
};

// About what an event takes in memory.
[[nodiscard]] std::size_t approximate_bytes(const event& e);

} // namespace troupe
