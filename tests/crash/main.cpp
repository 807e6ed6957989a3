// `troupe bench crash` on a file system that loses what was not synced: with --folder it is the worker that is killed,
// without it the one that kills and judges.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "crash.hpp"
#include "support/power_loss_vfs.hpp"

namespace {

using namespace troupe;

int work(std::map<std::string, std::string>& options) {
  const test::power_loss_vfs disk;
  bench::crash_worker_options worker;
  worker.folder = options["--folder"];
  worker.runs = static_cast<std::uint32_t>(std::strtoul(options["--runs"].c_str(), nullptr, 10));
  worker.vfs = test::power_loss_options{}.name;
  for (std::size_t i = 0; i < bench::crash_step_names.size(); ++i)
    if (options["--step"] == bench::crash_step_names[i])
      worker.plan =
          bench::crash_plan{static_cast<bench::crash_step>(i),
                            static_cast<std::uint32_t>(std::strtoul(options["--nth"].c_str(), nullptr, 10))};
  return bench::run_crash_worker(worker);
}

} // namespace

int main(int count, char** arguments) {
  std::map<std::string, std::string> options;
  for (int i = 1; i + 1 < count; i += 2)
    options[arguments[i]] = arguments[i + 1];
  if (options.contains("--folder"))
    return work(options);
  bench::crash_options crash;
  crash.worker = "/proc/self/exe";
  crash.runs = 40;
  crash.kills = static_cast<std::uint32_t>(std::strtoul(options["--kills"].c_str(), nullptr, 10));
  crash.seed = std::strtoull(options["--seed"].c_str(), nullptr, 10);
  return bench::run_crash(crash);
}
