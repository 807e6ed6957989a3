// The threads on which everything about the network runs.
//
// Each thread has its own Asio context, so a connection lives on one thread and needs no lock. The pool is
// also the timer port of the runtime, and lends its threads to the engine.
//
// Ownership: the pool outlives all clients, servers, calls and timer handles that were made with it.
// Thread-safety: all functions may be called from any thread; the destructor not from a thread of the pool.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/thread_lender.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace troupe::net {

class io_thread;

struct io_pool_options {
  std::size_t threads = 1; // one serves tens of thousands of connections; 0 counts as 1
};

class io_pool final : public timer, public thread_lender {
 public:
  explicit io_pool(io_pool_options options = {});
  // Ends the threads. What still waits is dropped without being called.
  ~io_pool() override;
  io_pool(const io_pool&) = delete;
  io_pool& operator=(const io_pool&) = delete;

  // The callback runs on a thread of the pool and must not throw. Once the handle is destroyed it does not
  // start any more; one that has already started on its thread runs to its end.
  [[nodiscard]] std::unique_ptr<timer_handle> after(std::chrono::milliseconds delay,
                                                    std::function<void()> callback) override;

  [[nodiscard]] std::size_t lent_threads() const noexcept override { return threads_.size(); }
  [[nodiscard]] std::thread::id lent_thread_id(std::size_t thread) const noexcept override;
  void lend(std::size_t thread, std::shared_ptr<lent_work> work) override;

  [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }
  // `i` is below size(). For the other parts of net/ only.
  [[nodiscard]] io_thread& thread(std::size_t i) noexcept { return *threads_[i]; }
  // The threads in turn.
  [[nodiscard]] io_thread& next() noexcept;

 private:
  std::vector<std::unique_ptr<io_thread>> threads_;
  std::atomic<std::size_t> turn_{0};
};

} // namespace troupe::net
