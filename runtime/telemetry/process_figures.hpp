// What the system tells of this process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe {

// Zero where it is not known.
struct process_figures {
  std::string version; // of the program; empty: none is shown
  std::uint64_t resident_bytes = 0;
  double cpu_seconds = 0; // user and system
  std::uint64_t open_fds = 0;
  double start_seconds = 0; // since 1970
};

// Reads /proc (proc(5)): a few small files, and the list of open files. Thread-safe; where there is no /proc all is zero.
[[nodiscard]] process_figures read_process_figures(std::string version);

} // namespace troupe
