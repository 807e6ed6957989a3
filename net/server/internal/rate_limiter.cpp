// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/rate_limiter.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::net {

double rate_limiter::level_at(const bucket& b, time_point now) const {
  const std::chrono::duration<double> passed = now - b.filled;
  return std::min(limit_.burst, b.level + std::max(0.0, passed.count()) * limit_.per_second);
}

rate_limiter::bucket& rate_limiter::bucket_of(const std::string& client, time_point now) {
  if (auto found = buckets_.find(client); found != buckets_.end())
    return found->second;
  // Sweeping costs the whole table, so not for each stranger.
  if (buckets_.size() >= limit_.max_clients && now - swept_ >= std::chrono::seconds{1}) {
    std::erase_if(buckets_, [&](const auto& entry) { return level_at(entry.second, now) >= limit_.burst; });
    swept_ = now;
  }
  if (buckets_.size() < limit_.max_clients)
    return buckets_.emplace(client, bucket{limit_.burst, now}).first->second;
  if (!others_used_)
    others_ = {limit_.burst, now};
  others_used_ = true;
  return others_;
}

std::chrono::milliseconds rate_limiter::take(const std::string& client, time_point now) {
  std::lock_guard lock{mutex_};
  auto& b = bucket_of(client, now);
  b.level = level_at(b, now);
  b.filled = std::max(b.filled, now);
  if (b.level >= 1) {
    b.level -= 1;
    return std::chrono::milliseconds{0};
  }
  return std::chrono::milliseconds{
      static_cast<std::int64_t>(std::ceil((1 - b.level) / limit_.per_second * 1000)) + 1};
}

std::size_t rate_limiter::clients() const {
  std::lock_guard lock{mutex_};
  return buckets_.size();
}

} // namespace troupe::net
