// The places among the calls of one model: a counter that agents take from directly, and a gateway actor for those that
// have to wait. So a call that need not wait costs no message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/atomic_histogram.hpp>
#include <troupe/actors/interfaces.hpp>
#include <troupe/runtime/model_admission.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace troupe::actors {

// Thread-safe. Lives as long as a permit of it.
class model_gate : public std::enable_shared_from_this<model_gate> {
 public:
  explicit model_gate(model_limits limits)
      : places_(limits.max_concurrency), counts_tokens_(limits.tokens_per_minute > 0), admission_(limits),
        restricted_(!admission_.unrestricted()) {}

  // The actor that is told when a place is free and somebody waits, and the clock. Once, before the first permit.
  void attach(const gateway_handle& gateway, std::function<steady_time()> clock);
  // Forgets both, so that they may end.
  void detach();

  // A place, or null when none is free, others wait already, or the model is restricted: then the gateway gives it.
  [[nodiscard]] permit_ptr try_acquire();

  // For the gateway, which serves those that wait: a place, or null and when it is worth asking again
  // (time_point::max(): when a place becomes free).
  [[nodiscard]] permit_ptr take(steady_time now, std::uint64_t tokens, steady_time& again);
  void add_waiting();
  void remove_waiting() noexcept { waiting_.fetch_sub(1); }

  // See model_admission::retry.
  [[nodiscard]] model_admission::retry_decision retry(std::uint32_t attempt, const model_error& error,
                                                      double uniform, std::chrono::milliseconds elapsed);

  // The service is left alone for now.
  [[nodiscard]] bool is_open() const;
  // Callers have to say how many tokens a call may take.
  [[nodiscard]] bool counts_tokens() const noexcept { return counts_tokens_; }
  [[nodiscard]] model_status status() const;

 private:
  class place;
  friend class place;
  enum class call_end : std::uint8_t { completed, failed, abandoned, unused };
  void release(call_end end, std::uint64_t reserved, const usage& used, const model_error* error) noexcept;
  void note(const usage& used, const event_timing& timing) noexcept;
  permit_ptr make_place(std::uint64_t tokens);
  [[nodiscard]] steady_time now() const;

  const std::uint32_t places_;
  const bool counts_tokens_;
  std::atomic<std::uint32_t> in_use_{0};
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint64_t> started_{0};   // calls that did not ask admission_
  std::atomic<std::uint64_t> completed_{0}; // likewise
  atomic_histogram latency_;
  atomic_histogram first_token_;
  atomic_histogram queue_wait_;
  std::array<std::atomic<std::uint64_t>, 5> used_{}; // in the order of the members of usage
  mutable std::mutex mutex_;                         // guards what follows
  model_admission admission_;
  gateway_handle gateway_;
  std::function<steady_time()> clock_;
  std::atomic<bool> restricted_; // written under the mutex
};

} // namespace troupe::actors
