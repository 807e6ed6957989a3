// How long pieces of streams were on their way: the fake model writes into each the time at which it wrote it (see
// fake_model/script.hpp). Both run on one machine, so their steady clocks are one.
//
// Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace troupe::bench {

// The value below which the part `p` (0 to 1) of the values lies; 0 without values.
[[nodiscard]] double percentile(std::vector<double> values, double p);

class stream_delays {
 public:
  // Notes each time in `text`, which has just come.
  void take(std::string_view text);

  // In microseconds: of all pieces, and of the first of each stream.
  [[nodiscard]] const std::vector<double>& all() const noexcept { return all_; }
  [[nodiscard]] const std::vector<double>& first() const noexcept { return first_; }

 private:
  std::vector<double> all_;
  std::vector<double> first_;
};

} // namespace troupe::bench
