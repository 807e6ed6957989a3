// Queues agents for the places of one model: fair over sessions, so that one session with ten thousand children does
// not starve another. The gate learns of the actor that is spawned.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/interfaces.hpp>
#include <troupe/actors/model_gate.hpp>

#include <memory>

namespace troupe::actors {

gateway_handle spawn_gateway(caf::actor_system& system, const std::shared_ptr<model_gate>& gate);

} // namespace troupe::actors
