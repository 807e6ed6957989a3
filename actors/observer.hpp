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
#include <memory>

namespace troupe::actors {

// What the observer shares with those that it watches.
struct observer_link {
  std::atomic<bool> events_followed = false; // deltas carry the events themselves
  actor_meter supervisors;
  actor_meter observer;
  actor_meter tools; // calls: their wait for a thread, and how long they ran
};

// Events are kept for followers until nobody has asked for them for so long.
inline constexpr std::chrono::seconds followed_for{15};

observer_handle spawn_observer(caf::actor_system& system, activity_limits limits,
                               std::shared_ptr<observer_link> link);

} // namespace troupe::actors
