// SPDX-License-Identifier: Apache-2.0
#include "delays.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>

namespace troupe::bench {

namespace {

constexpr std::size_t digits = 16;

} // namespace

double percentile(std::vector<double> values, double p) {
  if (values.empty())
    return 0;
  const auto at =
      std::min(values.size() - 1, static_cast<std::size_t>(p * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void stream_delays::take(std::string_view text) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
  for (auto at = text.find_first_of("@#"); at != std::string_view::npos && at + digits < text.size();
       at = text.find_first_of("@#", at + digits)) {
    std::int64_t written = 0;
    std::from_chars(text.data() + at + 1, text.data() + at + 1 + digits, written, 16);
    const auto us = static_cast<double>(now - written) / 1000;
    all_.push_back(us);
    if (text[at] == '#')
      first_.push_back(us);
  }
}

} // namespace troupe::bench
