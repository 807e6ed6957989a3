// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/latency_histogram.hpp>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("a histogram's quantiles lie within the bounds of their bucket") {
  latency_histogram h;
  CHECK(h.quantile(0.5) == 0);
  for (std::uint64_t us = 1; us <= 1000; ++us)
    h.add(us);
  CHECK(h.count() == 1000);
  CHECK(h.sum_us == 500'500);
  CHECK(h.quantile(0.5) == doctest::Approx(500).epsilon(0.05));
  CHECK(h.quantile(0.99) == doctest::Approx(990).epsilon(0.05));
  h.add(10'000'000'000'000);
  CHECK(h.counts.back() == 1);
  latency_histogram twice = h;
  twice += h;
  CHECK(twice.count() == 2002);
}
