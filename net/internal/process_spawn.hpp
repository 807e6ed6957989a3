// Starting a program with pipes: the system calls of child_process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/child_process.hpp>

namespace troupe::net {

// The caller owns the descriptors, and reaps the process.
struct spawned_process {
  int pid = 0;
  int pidfd = -1;  // readable once it has ended
  int input = -1;  // a socket: writing to a program that has gone gives an error, no signal
  int output = -1; // read end of a pipe
  int errors = -1; // likewise
};

[[nodiscard]] result<spawned_process> spawn_process(const process_spec& spec);

} // namespace troupe::net
