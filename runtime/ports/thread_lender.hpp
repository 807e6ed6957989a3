// The port to threads that lend themselves to the engine.
//
// A thread that brings work (the answer of a model, say) does it itself, right after what it does anyway: then no other
// thread has to be woken for it, nor this one for what comes of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <thread>

namespace troupe {

// Work for a lent thread. Of the engine.
class lent_work {
 public:
  virtual ~lent_work() = default;

  // Does some of it, on the lent thread. True: there is more, and the thread's own work is to have its turn first.
  [[nodiscard]] virtual bool run() noexcept = 0;
};

// Thread-safe. Outlives the engine, which does not end on a lent thread.
class thread_lender {
 public:
  virtual ~thread_lender() = default;

  [[nodiscard]] virtual std::size_t lent_threads() const noexcept = 0;
  // `thread` is below lent_threads(), here and below.
  [[nodiscard]] virtual std::thread::id lent_thread_id(std::size_t thread) const noexcept = 0;

  // Has `work` run on the thread soon, again and again until it says that there is no more. Does not run it itself.
  virtual void lend(std::size_t thread, std::shared_ptr<lent_work> work) = 0;
};

} // namespace troupe
