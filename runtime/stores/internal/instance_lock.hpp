// Who is alive: each store object that writes holds one byte of a lock file for as long as it exists.
//
// The locks are those of open files (F_OFD_SETLK), so the kernel drops them when the process dies, however it dies, and
// two objects in one process exclude each other. Thread-safe once it is open.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <utility>

namespace troupe::internal {

class instance_lock {
 public:
  explicit instance_lock(std::filesystem::path file) : file_(std::move(file)) {}
  instance_lock(const instance_lock&) = delete;
  instance_lock& operator=(const instance_lock&) = delete;
  ~instance_lock();

  // Makes the file where it is missing. Where that is not allowed, what can be read of it serves to see who is alive.
  [[nodiscard]] status open();
  [[nodiscard]] bool writable() const noexcept { return writable_; }

  // Excludes others that make the same store ready, until `leave_setup`. Fails with busy at the end of `patience`.
  [[nodiscard]] status enter_setup(std::chrono::milliseconds patience);
  void leave_setup() noexcept;

  // Becomes `instance` (from 1 on), which nobody else is.
  [[nodiscard]] status hold(std::int64_t instance);
  // 0 before `hold`.
  [[nodiscard]] std::int64_t held() const noexcept { return held_; }
  // True for this object's own number, and for one that another object holds.
  [[nodiscard]] bool alive(std::int64_t instance) const noexcept;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  bool writable_ = false;
  std::atomic<std::int64_t> held_{0};
};

} // namespace troupe::internal
