// The scheduler of CAF with a queue of ours.
//
// CAF's sharing policy wakes a thread for each job, also where the thread that brought the job takes it a moment later:
// then two threads wake and sleep in turns for every message, which costs more than most handlers. Here a sleeping thread
// is woken for a job only when more jobs wait than running threads will take at once. A handler that takes long holds up
// nobody: while jobs wait, one thread of those that sleep looks at the queue again after `look_again`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/all.hpp>
#include <caf/detail/thread_safe_actor_clock.hpp>
#include <caf/policy/unprofiled.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace troupe::actors {

// The jobs that are ready, and the threads that wait for one. Thread-safe.
class job_queue {
 public:
  static constexpr std::size_t max_left_waiting = 2; // jobs that wake nobody, while as many threads run
  static constexpr std::chrono::microseconds look_again{500};

  // Holds each actor at most once. Once a job of `add_from_outside` can be taken, that call touches the queue no more: its
  // thread may outlive the queue.
  void add(caf::resumable* job);
  void add_from_outside(caf::resumable* job);
  // The next job of the calling thread, which counts as running from its first call on.
  [[nodiscard]] caf::resumable* take(bool first);
  // The next job, or null; counts nobody.
  [[nodiscard]] caf::resumable* try_take();
  // A running thread ends.
  void leave();

 private:
  [[nodiscard]] bool calls_for_work();
  [[nodiscard]] bool calls_for_watch();
  void sleep(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable called_;
  std::deque<caf::resumable*> jobs_;
  std::size_t running_ = 0;
  std::size_t sleeping_ = 0;  // not yet called
  std::size_t to_work_ = 0;   // called, and counted as running
  bool watched_ = false;      // one of those that sleep looks at the queue, or is called to
  bool watch_called_ = false; // it has not heard of it yet
  bool busy_ = false;         // a job has come since it looked last
};

// Of coordinator and worker of CAF.
class queue_policy : public caf::policy::unprofiled {
 public:
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}
    job_queue queue;
  };
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
    bool runs = false;
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    d(self).queue.add_from_outside(job);
  }
  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    d(self->parent()).queue.add(job);
  }
  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    d(self->parent()).queue.add(job);
  }
  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    d(self->parent()).queue.add(job);
  }
  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    return d(self->parent()).queue.take(!std::exchange(d(self).runs, true));
  }
  template <class Worker>
  void before_shutdown(Worker* self) {
    d(self->parent()).queue.leave();
  }
  template <class Worker, class F>
  void foreach_resumable(Worker*, F) {}
  template <class Coordinator, class F>
  void foreach_central_resumable(Coordinator* self, F act) {
    while (auto* job = d(self).queue.try_take())
      act(job);
  }
};

// CAF cancels the timeouts of each actor that ends, which wakes the thread of the clock. Here only those of an actor that
// has set one are cancelled. Thread-safe; `real` outlives it.
class sparing_clock final : public caf::detail::thread_safe_actor_clock {
 public:
  explicit sparing_clock(caf::actor_clock& real) : real_(real) {}

  void set_ordinary_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                            std::uint64_t id) override;
  void set_request_timeout(time_point at, caf::abstract_actor* self, caf::message_id id) override;
  void set_multi_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                         std::uint64_t id) override;
  void cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) override;
  void cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) override;
  void cancel_timeouts(caf::abstract_actor* self) override;
  void schedule_message(time_point at, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override;
  void schedule_message(time_point at, caf::group target, caf::strong_actor_ptr sender,
                        caf::message content) override;
  void cancel_all() override;

 private:
  void note(const caf::abstract_actor& self);

  caf::actor_clock& real_;
  std::mutex mutex_;
  std::unordered_set<caf::actor_id> waiting_; // actors that have set a timeout and have not ended
};

class scheduler final : public caf::scheduler::coordinator<queue_policy> {
 public:
  using caf::scheduler::coordinator<queue_policy>::coordinator;

  caf::detail::thread_safe_actor_clock& clock() noexcept override { return timers_; }

  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>) {
    return new scheduler(system);
  }

 private:
  sparing_clock timers_{coordinator::clock()};
};

} // namespace troupe::actors
