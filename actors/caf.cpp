// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/caf.hpp>
#include <troupe/actors/internal/scheduler.hpp>
#include <troupe/runtime/worker_threads.hpp>

namespace troupe::actors {

system_config::system_config(const scheduler_options& options) : lender_(options.lender) {
  const auto threads = options.threads != 0 ? options.threads : usable_processors();
  if (options.testing)
    set("scheduler.policy", caf::atom("testing"));
  else
    load<scheduler>();
  set("scheduler.max-throughput", std::size_t{50});
  set("scheduler.max-threads", threads);
}

} // namespace troupe::actors
