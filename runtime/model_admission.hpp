// When a call of one model may start: rate limits, the pause that a service asks for, the circuit breaker and the budget
// of retries that all agents share.
//
// A service that turns calls away is left alone for a while (closed → open), then gets one call (half open), and after a
// success as many more as have succeeded since, so that agents that waited do not come back as a herd.
//
// Not thread-safe; the caller tells the time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/usage.hpp>
#include <troupe/runtime/latency_histogram.hpp>
#include <troupe/runtime/ports/model_provider.hpp>
#include <troupe/runtime/retry.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace troupe {

struct model_limits {
  std::uint32_t max_concurrency = 16'384;
  std::uint32_t requests_per_minute = 0; // 0: no limit
  std::uint64_t tokens_per_minute = 0;   // 0: no limit; of input and output
  retry_policy retries{};
  std::chrono::milliseconds call_timeout{std::chrono::minutes{30}}; // of a call with all its tries and waits
  std::uint32_t retry_burst =
      500; // retries of all agents together that no success has paid for; 429 costs none
  double retries_per_success = 0.5;               // what a success adds to that, up to the burst
  std::uint32_t breaker_failures = 10;            // in a row; then the model is left alone. 0: never
  std::chrono::milliseconds breaker_delay{2'000}; // for so long, doubled each time that the probe fails
  std::chrono::milliseconds max_breaker_delay{60'000};
};

enum class breaker_state : std::uint8_t { closed, open, half_open };

[[nodiscard]] constexpr std::string_view to_string(breaker_state s) noexcept {
  constexpr std::string_view names[] = {"closed", "open", "half_open"};
  return names[static_cast<std::size_t>(s)];
}

// Sums since the start.
struct model_counts {
  std::uint64_t calls = 0; // that were started
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t rate_limited = 0; // of the failed
  std::uint64_t retries = 0;
  std::uint64_t retries_refused = 0; // for want of budget
  std::uint64_t breaker_opened = 0;
  std::uint64_t waits = 0; // calls that did not start at once
  friend bool operator==(const model_counts&, const model_counts&) = default;
};

// How a model is doing.
struct model_status {
  model_counts counts;
  troupe::usage usage;           // of the calls that completed
  latency_histogram latency;     // of the calls that completed
  latency_histogram first_token; // of those that streamed
  latency_histogram queue_wait;  // of the calls that started
  breaker_state breaker = breaker_state::closed;
  std::uint32_t in_use = 0;  // calls under way
  std::uint32_t waiting = 0; // calls that wait for a place
};

class model_admission {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit model_admission(model_limits limits) : limits_(limits) {}

  // True when there is nothing to ask about but the number of calls under way.
  [[nodiscard]] bool unrestricted() const noexcept {
    return state_ == breaker_state::closed && failures_ == 0 && window_ == 0 &&
           limits_.requests_per_minute == 0 && limits_.tokens_per_minute == 0;
  }

  // Starts a call of about `tokens` if it may start now, `in_use` others being under way. Otherwise gives when it is
  // worth asking again; time_point::max() when that depends on another call's end.
  [[nodiscard]] std::optional<time_point> try_start(time_point now, std::uint32_t in_use,
                                                    std::uint64_t tokens);

  // A call that was started has ended. `reserved` is what it was started with.
  void completed(time_point now, std::uint64_t reserved, const usage& used);
  void failed(time_point now, std::uint64_t reserved, const model_error& error);
  // It was given up: it says nothing about the service. `begun`: the service may have seen it.
  void abandoned(time_point now, std::uint64_t reserved, bool begun);

  // The wait before the next try of a call that failed, or nothing when it has failed for good; `why` then says what
  // stood against another try.
  struct retry_decision {
    std::optional<std::chrono::milliseconds> delay;
    std::string why;
  };
  [[nodiscard]] retry_decision retry(std::uint32_t attempt, const model_error& error, double uniform,
                                     std::chrono::milliseconds elapsed);

  // The service is left alone, and its time is not over.
  [[nodiscard]] bool is_open(time_point now) const noexcept {
    return state_ == breaker_state::open && now < open_until_;
  }
  [[nodiscard]] breaker_state state() const noexcept { return state_; }
  [[nodiscard]] const model_counts& counts() const noexcept { return counts_; }
  [[nodiscard]] const model_limits& limits() const noexcept { return limits_; }
  void count_wait() noexcept { ++counts_.waits; }

 private:
  // A bucket that fills over a minute.
  struct bucket {
    double level = 0;
    time_point filled{};
    bool begun = false;
    void fill(time_point now, double per_minute);
    [[nodiscard]] time_point ready(time_point now, double cost, double per_minute) const;
  };

  void open(time_point now, std::chrono::milliseconds delay);
  [[nodiscard]] std::uint32_t window() const noexcept;

  model_limits limits_;
  model_counts counts_;
  breaker_state state_ = breaker_state::closed;
  std::uint32_t failures_ = 0; // in a row
  std::uint32_t trips_ = 0;    // in a row, without a success between
  time_point open_until_{};
  bool probing_ = false;
  std::uint32_t window_ =
      0; // calls that may be under way while the model recovers; 0: as many as there are places
  double retry_budget_ = -1; // below 0: not used yet
  bucket requests_;
  bucket tokens_;
};

} // namespace troupe
