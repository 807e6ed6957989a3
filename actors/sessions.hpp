// Finds or starts the one supervisor of a session, watches supervisors, ends idle ones and drains at shutdown.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/supervisor.hpp>

#include <memory>

namespace troupe::actors {

sessions_handle spawn_sessions(caf::actor_system& system,
                               std::shared_ptr<const supervisor_environment> environment);

} // namespace troupe::actors
