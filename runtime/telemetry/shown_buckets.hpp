// The buckets of a histogram as metrics show them: three a decade, which are every other one of those that are counted,
// so that the counts are exact.
//
// The conventions for generative AI advise other bounds; ours are the ones that add up with what was counted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/latency_histogram.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace troupe {

struct shown_buckets {
  static constexpr std::size_t bounds = latency_histogram::bounds.size() / 2;

  explicit shown_buckets(const latency_histogram& times) {
    for (std::size_t i = 0; i < times.counts.size(); ++i)
      counts[(i + 1) / 2] += times.counts[i];
  }

  // The upper bound of a bucket but the last, in seconds: 1, 2 and 5 of each decade.
  [[nodiscard]] static double bound(std::size_t bucket) noexcept {
    return static_cast<double>(latency_histogram::bounds[2 * bucket]) / 1e6;
  }

  std::array<std::uint64_t, bounds + 1> counts{}; // of each bucket alone
};

} // namespace troupe
