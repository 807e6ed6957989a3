// Aggregates the activity of all sessions and passes streamed pieces to those who follow them.
//
// Its memory is O(live agents) and the bounds of activity_limits: each supervisor has one delta on the way, each agent
// one piece.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/interfaces.hpp>
#include <troupe/runtime/activity.hpp>

namespace troupe::actors {

observer_handle spawn_observer(caf::actor_system& system, activity_limits limits);

} // namespace troupe::actors
