// How long things took: counts in buckets with fixed bounds, so that histograms add up exactly.
//
// Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe {

class latency_histogram {
 public:
  // Upper bounds in microseconds, from 1 us to 500 s, six a decade; what is longer goes into one more bucket.
  static constexpr std::array<std::uint64_t, 54> bounds = [] {
    std::array<std::uint64_t, 54> b{};
    constexpr std::array<std::uint64_t, 6> tenths = {10, 15, 20, 30, 50, 70};
    std::uint64_t decade = 1;
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = decade * tenths[i % tenths.size()] / 10;
      if (i % tenths.size() == tenths.size() - 1)
        decade *= 10;
    }
    return b;
  }();
  static constexpr std::size_t buckets = bounds.size() + 1;

  [[nodiscard]] static std::size_t bucket_of(std::uint64_t us) noexcept {
    return static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), us) - bounds.begin());
  }

  void add(std::uint64_t us) noexcept {
    ++counts[bucket_of(us)];
    sum_us += us;
  }

  latency_histogram& operator+=(const latency_histogram& other) noexcept {
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] += other.counts[i];
    sum_us += other.sum_us;
    return *this;
  }

  [[nodiscard]] std::uint64_t count() const noexcept;

  // About the value below which the share `q` of them lies, in microseconds; between the bounds of its bucket. 0 when
  // there are none.
  [[nodiscard]] double quantile(double q) const noexcept;

  friend bool operator==(const latency_histogram&, const latency_histogram&) = default;

  std::array<std::uint64_t, buckets> counts{};
  std::uint64_t sum_us = 0;
};

} // namespace troupe
