// How many requests a second one client may make: a bucket of tokens an address (RFC 2697 has the idea).
//
// The table is bounded. Buckets that are full again are forgotten; clients beyond the bound share one bucket.
// Thread-safe. The caller tells the time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace troupe::net {

struct rate_limit {
  double per_second = 200;
  double burst = 400;
  std::size_t max_clients = 4096;
};

class rate_limiter {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit rate_limiter(rate_limit limit) : limit_(limit) {}

  // Zero when the request may go on, else the time after which the next one may.
  [[nodiscard]] std::chrono::milliseconds take(const std::string& client, time_point now);
  [[nodiscard]] std::size_t clients() const;

 private:
  struct bucket {
    double level = 0;
    time_point filled{};
  };
  bucket& bucket_of(const std::string& client, time_point now);
  [[nodiscard]] double level_at(const bucket& b, time_point now) const;

  const rate_limit limit_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, bucket> buckets_;
  bucket others_;
  time_point swept_{};
  bool others_used_ = false;
};

} // namespace troupe::net
