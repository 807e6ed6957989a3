// Lets callbacks of others use an object until it closes, and lets its owner wait until none uses it any more.
//
// Thread-safe. What runs inside is short and does not call close().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace troupe::net {

class use_gate {
 public:
  [[nodiscard]] bool enter() {
    std::lock_guard lock{mutex_};
    if (closed_)
      return false;
    ++inside_;
    return true;
  }
  void leave() {
    std::lock_guard lock{mutex_};
    if (--inside_ == 0)
      empty_.notify_all();
  }
  // Nobody enters any more; waits for those inside.
  void close() {
    std::unique_lock lock{mutex_};
    closed_ = true;
    empty_.wait(lock, [this] { return inside_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t inside_ = 0;
  bool closed_ = false;
};

// The use of an object for as long as this lives; null when the object is closed.
template <class T>
class entered {
 public:
  entered() = default;
  entered(std::shared_ptr<use_gate> gate, std::shared_ptr<T> object)
      : gate_(std::move(gate)), object_(std::move(object)) {}
  entered(entered&&) noexcept = default;
  entered& operator=(entered&&) = delete;
  ~entered() {
    object_.reset();
    if (gate_ != nullptr)
      gate_->leave();
  }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_.get(); }

 private:
  std::shared_ptr<use_gate> gate_;
  std::shared_ptr<T> object_;
};

// What a callback keeps: it neither keeps the object alive nor uses it after its end.
template <class T>
class handle_of {
 public:
  handle_of(std::weak_ptr<T> object, std::shared_ptr<use_gate> gate)
      : object_(std::move(object)), gate_(std::move(gate)) {}

  [[nodiscard]] entered<T> enter() const {
    if (!gate_->enter())
      return {};
    return {gate_, object_.lock()};
  }

 private:
  std::weak_ptr<T> object_;
  std::shared_ptr<use_gate> gate_;
};

} // namespace troupe::net
