// The jobs of the scheduler that are ready, and the threads that wait for one.
//
// CAF's sharing policy wakes a thread for each job, also where the thread that brought the job takes it a moment later:
// then two threads wake and sleep in turns for every message, which costs more than most handlers. Here a sleeping thread
// is woken for a job only when more jobs wait than running threads will take at once. A handler that takes long holds up
// nobody: while jobs wait, one thread of those that sleep looks at the queue again after `look_again`.
//
// A lent thread (see thread_lender.hpp) has a lane: the jobs that it brings, and those that come of them, if their actor
// never waits. Where nobody runs, the first job from outside goes to a lane as well. Jobs of a lane are taken over when
// they become many, or when the lent thread has taken none for `lane_patience`; what comes of those goes back to a lane
// that goes on, since an agent that moves between threads finds its memory cold on each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/all.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::actors {

// Thread-safe. Holds each actor at most once.
class job_queue {
 public:
  using clock = std::chrono::steady_clock;

  static constexpr std::size_t max_left_waiting = 2;    // jobs that wake nobody, while as many threads run
  static constexpr std::size_t max_left_to_lanes = 512; // likewise, of lanes
  static constexpr std::size_t left_to_lanes = 256;     // so many a running thread leaves them
  static constexpr std::chrono::microseconds look_again{500};
  static constexpr std::chrono::microseconds lane_patience{
      5'000}; // then a lane that does not go on loses its jobs

  // So many threads will take jobs; lent ones come on top. Before the first lane is opened.
  void expect_threads(std::size_t threads);

  // From a thread that takes jobs.
  void add(caf::resumable* job);
  // From any other. Once the job can be taken, this call touches the queue no more: its thread may outlive the queue.
  void add_from_outside(caf::resumable* job);
  // The next job of the calling thread, which counts as running from its first call on. Null: the queue is closed and empty.
  [[nodiscard]] caf::resumable* take(bool first);
  // The next job, or null; counts nobody.
  [[nodiscard]] caf::resumable* try_take();
  // What a thread that sleeps does now and then while jobs wait, `since_last` after it did so last. True: it is to take one.
  // A lane whose thread has taken nothing for lane_patience loses its jobs.
  [[nodiscard]] bool look(std::chrono::microseconds since_last);
  // Ends those that take once there is nothing left.
  void close();

  // A lane for the lent thread `of`. `call` has that thread take its jobs until there are none; it is called under the
  // lock. Before the first job.
  std::size_t open_lane(std::thread::id of, std::function<void()> call);
  // On the lane's thread, which has been called. Null: the lane is empty, and the thread is called again for the next job.
  [[nodiscard]] caf::resumable* take_lent(std::size_t number);
  // On the lane's thread, from a job that it runs.
  void add_lent(std::size_t number, caf::resumable* job);
  // The lane gets nothing until then; what it has is for others.
  void pause_lane(std::size_t number, clock::time_point until);
  // The same for all lanes and for ever.
  void close_lanes();

 private:
  struct lane {
    std::thread::id thread;
    std::function<void()> call;
    std::deque<caf::resumable*> jobs;
    bool called = false;                // and has not yet found it empty: counts as running
    bool took = false;                  // a job, since the last look
    bool late = false;                  // lost its jobs, and its thread has not come since
    std::chrono::microseconds still{0}; // for so long it has taken none
    clock::time_point paused_until{};
  };

  [[nodiscard]] bool may_be_lent(const caf::resumable& job) const noexcept;
  [[nodiscard]] static bool is_paused(const lane& l);
  [[nodiscard]] lane* lane_for(const caf::resumable& job);
  [[nodiscard]] lane* lane_that_goes_on(const caf::resumable& job);
  void place(caf::resumable* job, lane* to);
  void put(lane& to, caf::resumable* job);
  void give_back(lane& from);
  [[nodiscard]] bool calls_for_work();
  [[nodiscard]] bool calls_for_watch();
  void begin_watch(bool often);
  void look_at_lanes();
  [[nodiscard]] bool look_locked(std::chrono::microseconds since_last);
  [[nodiscard]] caf::resumable* steal();
  void sleep(std::unique_lock<std::mutex>& lock);

  std::size_t threads_ = 1;
  std::mutex mutex_;
  std::condition_variable called_;
  std::deque<caf::resumable*> jobs_;
  std::size_t running_ = 0;
  std::size_t sleeping_ = 0;   // not yet called
  std::size_t to_work_ = 0;    // called, and counted as running
  bool watched_ = false;       // one of those that sleep looks at the queue, or is called to
  bool watched_often_ = false; // each look_again, and not each lane_patience
  bool watch_called_ = false;  // it has not heard of it yet
  std::uint64_t watch_ = 0;    // counts them: whoever has an earlier number watches no more
  bool busy_ = false;          // a job has come since it looked last
  bool closed_ = false;

  std::vector<lane> lanes_;
  std::size_t lent_ = 0; // jobs of all lanes
  std::size_t lanes_called_ = 0;
  std::size_t next_lane_ = 0;
  clock::time_point looked_{}; // at the lanes, by a thread that ran
  bool lanes_closed_ = false;
};

} // namespace troupe::actors
