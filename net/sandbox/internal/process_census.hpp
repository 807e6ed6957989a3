// What a process and all that descend from it use. Linux: /proc; blocks for microseconds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::net {

struct process_use {
  std::size_t processes = 0;
  std::uint64_t memory_bytes = 0; // resident, pages that are shared counted for each
};

// Stops counting at `most` processes. Zero once the process is gone.
[[nodiscard]] process_use count_processes(int pid, std::size_t most);

} // namespace troupe::net
