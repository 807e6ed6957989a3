// Time that a test advances by hand.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/timer.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace troupe::test {

// Callbacks run in advance(), in the order of their times and then of their calls, without a lock held.
// Thread-safe.
class manual_timer final : public timer {
 public:
  std::unique_ptr<timer_handle> after(std::chrono::milliseconds delay,
                                      std::function<void()> callback) override {
    std::lock_guard lock{state_->mutex};
    std::pair key{state_->now + delay, state_->count++};
    state_->waiting.emplace(key, std::move(callback));
    return std::make_unique<handle>(state_, key);
  }

  void advance(std::chrono::milliseconds by) {
    std::unique_lock lock{state_->mutex};
    auto end = state_->now + by;
    while (!state_->waiting.empty() && state_->waiting.begin()->first.first <= end) {
      auto next = state_->waiting.extract(state_->waiting.begin());
      state_->now = next.key().first;
      lock.unlock();
      next.mapped()();
      lock.lock();
    }
    state_->now = end;
  }

  [[nodiscard]] std::size_t waiting() const {
    std::lock_guard lock{state_->mutex};
    return state_->waiting.size();
  }

 private:
  using key_type = std::pair<std::chrono::milliseconds, std::size_t>;
  struct state {
    mutable std::mutex mutex;
    std::chrono::milliseconds now{0};
    std::size_t count = 0;
    std::map<key_type, std::function<void()>> waiting;
  };
  struct handle final : timer_handle {
    handle(std::shared_ptr<state> s, key_type k) : owner(std::move(s)), key(k) {}
    ~handle() override {
      std::function<void()> dropped; // destroyed without the lock
      std::lock_guard lock{owner->mutex};
      if (auto node = owner->waiting.extract(key))
        dropped = std::move(node.mapped());
    }
    std::shared_ptr<state> owner;
    key_type key;
  };
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace troupe::test
