// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/retry.hpp>

#include <algorithm>

namespace troupe {

std::optional<std::chrono::milliseconds> retry_policy::delay(std::uint32_t attempt, const model_error& error,
                                                             double uniform) const {
  if (!error.retryable || attempt > max_retries)
    return std::nullopt;
  auto spread = [uniform](std::chrono::milliseconds base, double share) {
    auto extra = static_cast<double>(base.count()) * share * uniform;
    return base + std::chrono::milliseconds{static_cast<std::int64_t>(extra)};
  };
  if (error.retry_after) {
    if (*error.retry_after > max_retry_after)
      return std::nullopt;
    return spread(*error.retry_after, 0.1);
  }
  auto doubled = first_delay * (std::int64_t{1} << std::min<std::uint32_t>(attempt - 1, 20));
  return spread(std::min(doubled, max_delay) / 2, 1.0);
}

} // namespace troupe
