// What a benchmark reads of its own process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace troupe::bench {

// User and system CPU of the process so far, in seconds.
[[nodiscard]] double cpu_seconds();

// The largest resident set so far, in MiB; 0 where the system does not tell.
[[nodiscard]] double peak_rss_mb();

// The resident set now, in MiB; 0 where the system does not tell.
[[nodiscard]] double resident_mb();

// Raises the soft limit of open files to the hard one: a workload may hold one connection for each agent.
void raise_file_limit();

// Wall and CPU time since construction.
class stopwatch {
 public:
  [[nodiscard]] double wall() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  [[nodiscard]] double cpu() const { return cpu_seconds() - cpu_; }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double cpu_ = cpu_seconds();
};

} // namespace troupe::bench
