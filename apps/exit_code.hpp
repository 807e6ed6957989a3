// How the command ends: one table from outcomes and errors to exit codes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/outcome.hpp>

namespace troupe::cli {

enum exit_code : int {
  exit_completed = 0,
  exit_failed = 1,
  exit_usage = 2, // bad options or configuration
  exit_cancelled = 3,
  exit_needs_input = 4, // a question waits for an answer
};

[[nodiscard]] inline int to_exit_code(const outcome& o) noexcept {
  if (o.completed())
    return exit_completed;
  if (o.cancelled())
    return exit_cancelled;
  return o.code() == errc::needs_input ? exit_needs_input : exit_failed;
}

} // namespace troupe::cli
