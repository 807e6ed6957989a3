// Runs tasks one after another, on the threads that bring them: what only tasks touch needs no lock.
//
// A task that is brought while another one runs, also from within it, is run after it by whoever runs that. So nobody
// waits, nothing is called with a lock held, and a single thread sees everything happen in its own calls.
// Tasks are short, do not block and do not throw. The queue may be destroyed by one of its tasks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace troupe::net {

class serial_queue {
 public:
  void run(std::function<void()> task) {
    const auto state = state_;
    {
      std::lock_guard lock{state->mutex};
      state->tasks.push_back(std::move(task));
      if (std::exchange(state->running, true))
        return;
    }
    while (auto next = state->take())
      next();
  }

 private:
  struct shared {
    std::mutex mutex;
    std::deque<std::function<void()>> tasks;
    bool running = false;

    // Nothing when all is done.
    std::function<void()> take() {
      std::lock_guard lock{mutex};
      if (tasks.empty()) {
        running = false;
        return {};
      }
      auto next = std::move(tasks.front());
      tasks.pop_front();
      return next;
    }
  };
  std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

} // namespace troupe::net
