// What Prometheus' own checker says of our metrics.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/prometheus_text.hpp>

#include <doctest/doctest.h>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "telemetry/vitals.hpp"

using namespace troupe;
using namespace troupe::test;

TEST_CASE("promtool finds nothing wrong with the metrics") {
  const temporary_folder folder;
  if (run_program(folder.path(), {"/usr/bin/env", "promtool", "--version"}).code != 0) {
    MESSAGE("skipped: there is no promtool (Debian package prometheus)");
    return;
  }
  const auto text = prometheus_text(some_vitals(), some_models(), read_process_figures("0.1.0"));
  const auto checked = run_program(folder.path(), {"/usr/bin/env", "promtool", "check", "metrics"}, text);
  INFO(checked.out << checked.err);
  CHECK(checked.code == 0);
}
