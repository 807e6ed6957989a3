// Ctrl-C: the first asks the work to end, the second ends the program at once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

namespace troupe::cli {

// Takes SIGINT and SIGTERM over while it lives. Make it before any other thread, since threads inherit the mask.
class interrupt {
 public:
  interrupt();
  ~interrupt();
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;

  // What the next signal does, called on a thread of its own; the one after it ends the program. Replaces what was set
  // before.
  void on_signal(std::function<void()> action);
  [[nodiscard]] bool was_signalled() const noexcept { return signalled_.load(); }

 private:
  void wait();

  std::atomic<bool> signalled_{false};
  std::atomic<bool> closed_{false};
  std::atomic<std::shared_ptr<const std::function<void()>>> action_;
  std::thread thread_;
};

} // namespace troupe::cli
