// The places among the calls of one model: a counter that agents take from directly, and a gateway actor for those that
// have to wait. So a call that need not wait costs no message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/interfaces.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace troupe::actors {

// Thread-safe. Lives as long as a permit of it.
class model_gate : public std::enable_shared_from_this<model_gate> {
 public:
  explicit model_gate(std::uint32_t places) : places_(places) {}

  // The actor that is told when a place is free and somebody waits. Set once, before the first permit.
  void attach(const gateway_handle& gateway);
  // Forgets the actor, so that it may end.
  void detach();

  // A place, or null when none is free or others wait already.
  [[nodiscard]] permit_ptr try_acquire() { return waiting_.load() > 0 ? nullptr : take(); }
  // For the gateway, which serves those that wait.
  [[nodiscard]] permit_ptr take();

  void add_waiting() noexcept { waiting_.fetch_add(1); }
  void remove_waiting() noexcept { waiting_.fetch_sub(1); }

  [[nodiscard]] std::uint32_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }

 private:
  class place;
  void release() noexcept;

  const std::uint32_t places_;
  std::atomic<std::uint32_t> in_use_{0};
  std::atomic<std::uint32_t> waiting_{0};
  std::mutex mutex_; // only places that somebody waits for pass here
  gateway_handle gateway_;
};

} // namespace troupe::actors
