// Aggregates the activity of all sessions, answers those who follow it and passes streamed pieces on.
//
// Its memory is O(live agents) and the bounds of activity_limits: each supervisor has one delta on the way, each agent
// one piece, and nothing waits here for a follower: followers ask.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/atomic_histogram.hpp>
#include <troupe/actors/interfaces.hpp>
#include <troupe/runtime/activity.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace troupe::actors {

// What the observer shares with those that it watches.
struct observer_link {
  std::atomic<bool> events_followed = false; // deltas carry the events themselves
  actor_meter supervisors;
  actor_meter observer;
  actor_meter tools; // calls: their wait for a thread, and how long they ran
};

// Whether a delta of a supervisor is on its way to the observer. Thread-safe.
class activity_turn {
 public:
  // By the supervisor. True: it may send one. Otherwise end() will say that it waits for its turn.
  [[nodiscard]] bool begin() noexcept {
    for (auto is = state_.load();;) {
      if (is == state::wanted)
        return false;
      if (state_.compare_exchange_weak(is, is == state::free ? state::taken : state::wanted))
        return is == state::free;
    }
  }
  // By the observer, once it has taken the delta. True: the supervisor waits and is to be told.
  [[nodiscard]] bool end() noexcept { return state_.exchange(state::free) == state::wanted; }

 private:
  enum class state : std::uint8_t { free, taken, wanted };
  std::atomic<state> state_{state::free};
};

// Events are kept for followers until nobody has asked for them for so long.
inline constexpr std::chrono::seconds followed_for{15};

observer_handle spawn_observer(caf::actor_system& system, activity_limits limits,
                               std::shared_ptr<observer_link> link);

} // namespace troupe::actors
