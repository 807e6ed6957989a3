// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/worker_threads.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <sched.h>

namespace troupe {

std::size_t usable_processors() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return static_cast<std::size_t>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency()); // more processors than the set has room for
}

// Owned by the pool and by each thread, so that a thread that is left behind has what it needs.
struct worker_threads::shared {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable ended;
  std::deque<job> jobs; // bounded by its user, the tool pool
  bool closed = false;
  std::size_t alive = 0;
  std::size_t reporting = 0;
  std::size_t retiring = 0; // threads that are to end

  void run() {
    std::unique_lock lock{mutex};
    for (;;) {
      wake.wait(lock, [this] { return closed || retiring > 0 || !jobs.empty(); });
      if (closed)
        break;
      if (retiring > 0) {
        --retiring;
        break;
      }
      auto work = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      auto tell = work();
      work = nullptr;
      lock.lock();
      if (closed)
        break;
      ++reporting;
      lock.unlock();
      tell();
      tell = nullptr;
      lock.lock();
      --reporting;
      ended.notify_all();
    }
    --alive;
    ended.notify_all();
  }
};

worker_threads::worker_threads(std::size_t threads) : shared_(std::make_shared<shared>()) {
  for (std::size_t i = 0; i < threads; ++i)
    add_thread();
}

worker_threads::~worker_threads() {
  close(0);
}

void worker_threads::submit(job work) {
  {
    std::lock_guard lock{shared_->mutex};
    if (shared_->closed)
      return;
    shared_->jobs.push_back(std::move(work));
  }
  shared_->wake.notify_one();
}

bool worker_threads::add_thread() {
  std::lock_guard lock{shared_->mutex};
  if (shared_->closed)
    return false;
  try {
    std::thread{[state = shared_] { state->run(); }}.detach();
  } catch (const std::system_error&) {
    return false;
  }
  ++shared_->alive;
  return true;
}

void worker_threads::retire_thread() {
  {
    std::lock_guard lock{shared_->mutex};
    ++shared_->retiring;
  }
  shared_->wake.notify_one();
}

std::size_t worker_threads::close(std::uint32_t limit_ms) {
  std::unique_lock lock{shared_->mutex};
  shared_->closed = true;
  shared_->jobs.clear();
  shared_->wake.notify_all();
  shared_->ended.wait_for(lock, std::chrono::milliseconds{limit_ms}, [this] { return shared_->alive == 0; });
  // A report is short; what it touches must be there until it has been made.
  shared_->ended.wait(lock, [this] { return shared_->reporting == 0; });
  return shared_->alive;
}

} // namespace troupe
