// The scheduler of an actor system: threads of its own and lent ones that take jobs from our queue, and the clock.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/internal/delayed_messages.hpp>
#include <troupe/actors/internal/job_queue.hpp>
#include <troupe/runtime/ports/thread_lender.hpp>

#include <caf/all.hpp>
#include <caf/detail/thread_safe_actor_clock.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <vector>

namespace troupe::actors {

// CAF's clock, but for two things. CAF cancels the timeouts of each actor that ends, which wakes the clock's thread: here
// only those of an actor that has set one are cancelled. And messages that are due later are kept by delayed_messages.
// Thread-safe.
class sparing_clock final : public caf::detail::thread_safe_actor_clock {
 public:
  void start(caf::actor_system& system);
  // Messages that wait are dropped, and so are new ones.
  void end_messages() { messages_.stop(); }
  void stop();

  void set_ordinary_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                            std::uint64_t id) override;
  void set_request_timeout(time_point at, caf::abstract_actor* self, caf::message_id id) override;
  void set_multi_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                         std::uint64_t id) override;
  void cancel_timeouts(caf::abstract_actor* self) override;
  void schedule_message(time_point at, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override;
  void cancel_all() override;

 private:
  void note(const caf::abstract_actor& self);

  delayed_messages messages_;
  std::mutex mutex_;
  std::unordered_set<caf::actor_id> waiting_; // actors that have set a timeout and have not ended
  std::thread thread_;
};

// Runs jobs on one lent thread.
class lent_worker final : public lent_work, public std::enable_shared_from_this<lent_worker> {
 public:
  // In a row; then the thread's own work has its turn.
  static constexpr int max_jobs = 8;
  static constexpr std::chrono::milliseconds max_time{2};
  // Messages between two looks that take longer send the thread's work elsewhere for so long.
  static constexpr std::chrono::milliseconds slow{20};
  static constexpr std::chrono::milliseconds pause_after_slow{1'000};
  // Messages of one actor in a row.
  static constexpr int max_messages = 64;
  // Messages between two looks at the clock: one at each costs as much as some handlers.
  static constexpr int look_every = 4;

  lent_worker(caf::actor_system& system, job_queue& queue) : queue_(&queue), unit_(system, *this) {}

  // Before its first job.
  void open(thread_lender& lender, std::size_t thread);
  bool run() noexcept override;
  // Returns once it runs no job; it takes none after that.
  void close();

 private:
  // From the call of run() on.
  struct stint {
    job_queue::clock::time_point now = job_queue::clock::now(); // at the last look
    job_queue::clock::time_point until = now + max_time;
    int messages = 0;
  };

  void run_job(caf::resumable* job, stint& s);
  void look(stint& s);

  class unit final : public caf::execution_unit {
   public:
    unit(caf::actor_system& system, lent_worker& worker) : caf::execution_unit(&system), worker_(worker) {}
    void exec_later(caf::resumable* job) override { worker_.queue_->add_lent(worker_.lane_, job); }

   private:
    lent_worker& worker_;
  };

  std::mutex mutex_; // held while it runs
  job_queue* queue_; // null: closed
  std::size_t lane_ = 0;
  unit unit_;
};

class scheduler final : public caf::scheduler::abstract_coordinator {
 public:
  // `lender` may be null.
  scheduler(caf::actor_system& system, thread_lender* lender)
      : abstract_coordinator(system), lender_(lender) {}

  // For a system with a system_config.
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  void enqueue(caf::resumable* job) override { queue_.add_from_outside(job); }
  caf::actor_clock& clock() noexcept override { return clock_; }

 protected:
  void start() override;
  void stop() override;

 private:
  void run();

  job_queue queue_;
  sparing_clock clock_;
  thread_lender* lender_;
  std::vector<std::shared_ptr<lent_worker>> lent_;
  std::vector<std::thread> threads_;
};

} // namespace troupe::actors
