// The token budget of a run, over its whole tree of agents.
//
// A model call reserves what it may at most put out, and settles with what it used.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/usage.hpp>

#include <atomic>
#include <cstdint>

namespace troupe {

// Thread-safe; shared by the agents of a run.
class run_budget {
 public:
  explicit run_budget(std::uint64_t tokens) : limit_(tokens) {}

  // Takes `tokens` out of what is left; false, and nothing is taken, when that is less.
  [[nodiscard]] bool reserve(std::uint64_t tokens) noexcept {
    auto used = used_.load(std::memory_order_relaxed);
    do {
      if (used >= limit_ || limit_ - used < tokens)
        return false;
    } while (!used_.compare_exchange_weak(used, used + tokens, std::memory_order_relaxed));
    return true;
  }

  // Gives a reservation back and takes what the call used in all.
  void settle(std::uint64_t reserved, const usage& used) noexcept {
    used_.fetch_sub(reserved, std::memory_order_relaxed);
    used_.fetch_add(used.total(), std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0};
};

} // namespace troupe
