// Threads for work that may block. A thread whose work never returns can be left behind.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace troupe {

// The processors that this process may use, at least one: fewer than the machine has where it is confined to some.
[[nodiscard]] std::size_t usable_processors() noexcept;

// Thread-safe, but for the destructor.
//
// Work and what it reports are separate: `work` runs on a thread and gives a function, which is called on that thread
// when the pool is still open and is dropped otherwise. So a thread that is left behind touches only what `work` holds.
class worker_threads {
 public:
  using report = std::function<void()>;
  using job = std::function<report()>;

  explicit worker_threads(std::size_t threads);
  // Closes the pool.
  ~worker_threads();
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;

  // Runs `work` on a free thread, in the order of submission. Nothing happens after close().
  void submit(job work);

  // One more thread: in place of one that hangs. False when the system gives none.
  bool add_thread();

  // One thread fewer, as soon as one is free: the one that hung has come back.
  void retire_thread();

  // Takes no more work, waits until no report is being made and until the threads have ended, at most `limit`. Threads
  // that still work then are left behind; gives their number.
  std::size_t close(std::uint32_t limit_ms);

 private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace troupe
