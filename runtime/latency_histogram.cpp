// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/latency_histogram.hpp>

#include <numeric>

namespace troupe {

std::uint64_t latency_histogram::count() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

double latency_histogram::quantile(double q) const noexcept {
  const auto rank = q * static_cast<double>(count());
  double below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto here = static_cast<double>(counts[i]);
    if (here > 0 && below + here >= rank) {
      const double low = i == 0 ? 0 : static_cast<double>(bounds[i - 1]);
      const double high = i < bounds.size() ? static_cast<double>(bounds[i]) : low;
      return low + (high - low) * std::max(0.0, rank - below) / here;
    }
    below += here;
  }
  return 0;
}

} // namespace troupe
