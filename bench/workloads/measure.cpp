// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <fstream>
#include <string>
#include <string_view>

#include <sys/resource.h>

namespace troupe::bench {

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

namespace {

double status_mb(std::string_view name) {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name))
      return std::stod(line.substr(name.size())) / 1024.0;
  return 0;
}

} // namespace

double peak_rss_mb() {
  return status_mb("VmHWM:");
}

double resident_mb() {
  return status_mb("VmRSS:");
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

} // namespace troupe::bench
