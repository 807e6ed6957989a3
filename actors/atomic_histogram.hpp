// A latency_histogram that several threads add to at once, and samples of how actors keep up.
//
// Thread-safe; a reading taken while others add may miss their last values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/caf.hpp>
#include <troupe/runtime/activity.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::actors {

class atomic_histogram {
 public:
  void add(std::uint64_t us) noexcept {
    counts_[latency_histogram::bucket_of(us)].fetch_add(1, std::memory_order_relaxed);
    sum_us_.fetch_add(us, std::memory_order_relaxed);
  }
  void add(steady_time::duration d) noexcept {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(d).count();
    add(us > 0 ? static_cast<std::uint64_t>(us) : 0);
  }

  [[nodiscard]] latency_histogram read() const noexcept {
    latency_histogram h;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      h.counts[i] = counts_[i].load(std::memory_order_relaxed);
    h.sum_us = sum_us_.load(std::memory_order_relaxed);
    return h;
  }

 private:
  std::array<std::atomic<std::uint64_t>, latency_histogram::buckets> counts_{};
  std::atomic<std::uint64_t> sum_us_{0};
};

// How long messages waited for one kind of actor, and how long it took over them. Shared by all actors of the kind. The
// clock is std::chrono::steady_clock.
struct actor_meter {
  atomic_histogram mailbox_wait;
  atomic_histogram handler_time;

  [[nodiscard]] actor_timing read() const noexcept { return {mailbox_wait.read(), handler_time.read()}; }
};

// Measures one message, from when it was sent to the end of the scope. A message without a time of sending is not
// measured: most are not, so that measuring costs little.
class measured_message {
 public:
  measured_message(actor_meter* meter, steady_time sent) noexcept
      : meter_(sent == steady_time{} ? nullptr : meter) {
    if (meter_ == nullptr)
      return;
    began_ = std::chrono::steady_clock::now();
    meter_->mailbox_wait.add(began_ - sent);
  }
  measured_message(const measured_message&) = delete;
  measured_message& operator=(const measured_message&) = delete;
  ~measured_message() {
    if (meter_ != nullptr)
      meter_->handler_time.add(std::chrono::steady_clock::now() - began_);
  }

 private:
  actor_meter* meter_;
  steady_time began_{};
};

} // namespace troupe::actors
