// The queue of the scheduler's threads: nothing is lost, nothing waits behind a handler that takes long, and threads are
// woken no more often than they are needed.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/job_queue.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <vector>

using namespace troupe::actors;

namespace {

class job final : public caf::resumable {
 public:
  explicit job(bool lent = false) : lent_(lent) {}
  subtype_t subtype() const override { return lent_ ? io_actor : unspecified; }
  resume_result resume(caf::execution_unit*, std::size_t) override { return done; }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override {}

 private:
  bool lent_;
};

// A queue with one lane, whose thread is the test's own.
struct laned {
  laned() {
    lane = queue.open_lane(std::this_thread::get_id(), [this] { ++calls; });
  }

  job_queue queue;
  std::size_t lane = 0;
  int calls = 0;
};

// Takes `count` jobs on a thread of its own.
std::future<std::vector<caf::resumable*>> taker(job_queue& queue, std::size_t count) {
  return std::async(std::launch::async, [&queue, count] {
    std::vector<caf::resumable*> taken;
    for (std::size_t i = 0; i < count; ++i)
      taken.push_back(queue.take(i == 0));
    return taken;
  });
}

} // namespace

TEST_CASE("jobs are taken in their order") {
  job_queue queue;
  std::array<job, 3> jobs;
  for (auto& j : jobs)
    queue.add(&j);
  CHECK(queue.take(true) == &jobs[0]);
  CHECK(queue.take(false) == &jobs[1]);
  CHECK(queue.try_take() == &jobs[2]);
  CHECK(queue.try_take() == nullptr);
}

TEST_CASE("a thread that sleeps is woken when none runs") {
  job_queue queue;
  job only;
  for (int i = 0; i < 200; ++i) {
    auto thread = taker(queue, 1);
    queue.add(&only);
    CHECK(thread.get().front() == &only);
    // As far as the queue knows it runs on, so the next one finds its job by a watch.
  }
}

TEST_CASE("a handler that takes long holds up no other job") {
  job_queue queue;
  std::array<job, 3> jobs;
  std::vector<std::future<std::vector<caf::resumable*>>> takers;
  for (int i = 0; i < 3; ++i)
    takers.push_back(taker(queue, 1)); // each takes one job and never asks again
  for (auto& j : jobs)
    queue.add(&j);
  std::vector<caf::resumable*> taken;
  for (auto& t : takers)
    taken.push_back(t.get().front());
  std::sort(taken.begin(), taken.end());
  CHECK(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
}

TEST_CASE("each of many jobs is taken once by some thread") {
  constexpr std::size_t threads = 4;
  constexpr std::size_t each = 5000;
  job_queue queue;
  std::vector<job> jobs(threads * each);
  std::vector<std::future<std::vector<caf::resumable*>>> takers;
  for (std::size_t i = 0; i < threads; ++i)
    takers.push_back(taker(queue, each));
  auto half = std::async(std::launch::async, [&] {
    for (std::size_t i = 0; i < jobs.size(); i += 2)
      queue.add(&jobs[i]);
  });
  for (std::size_t i = 1; i < jobs.size(); i += 2)
    queue.add(&jobs[i]);
  half.get();
  std::vector<caf::resumable*> taken;
  for (auto& t : takers)
    for (auto* one : t.get())
      taken.push_back(one);
  std::sort(taken.begin(), taken.end());
  CHECK(taken.size() == jobs.size());
  CHECK(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
  CHECK(queue.try_take() == nullptr);
}

TEST_CASE("threads end once the queue is closed and empty") {
  job_queue queue;
  std::array<job, 2> jobs;
  for (auto& j : jobs)
    queue.add(&j);
  queue.close();
  CHECK(queue.take(true) == &jobs[0]);
  CHECK(queue.take(false) == &jobs[1]);
  CHECK(queue.take(false) == nullptr);
}

TEST_CASE("a lane's thread does what it brings and what comes of it, and is called once for all of it") {
  laned t;
  std::array<job, 3> jobs = {job{true}, job{true}, job{true}};
  t.queue.add_from_outside(&jobs[0]);
  t.queue.add_from_outside(&jobs[1]);
  CHECK(t.calls == 1);
  CHECK(t.queue.take_lent(t.lane) == &jobs[0]);
  t.queue.add_lent(t.lane, &jobs[2]);
  CHECK(t.queue.take_lent(t.lane) == &jobs[1]);
  CHECK(t.queue.take_lent(t.lane) == &jobs[2]);
  CHECK(t.queue.take_lent(t.lane) == nullptr);
  CHECK(t.calls == 1);
  t.queue.add_from_outside(&jobs[0]);
  CHECK(t.calls == 2);
  CHECK(t.queue.take_lent(t.lane) == &jobs[0]);
}

TEST_CASE("a job that may wait is never given to a lane") {
  laned t;
  std::array<job, 3> jobs;
  t.queue.add_from_outside(&jobs[0]);
  t.queue.add_lent(t.lane, &jobs[1]);
  t.queue.add(&jobs[2]);
  CHECK(t.calls == 0);
  for (auto& j : jobs)
    CHECK(t.queue.take(&j == &jobs[0]) == &j);
}

TEST_CASE("a job from another thread goes to a lane where nobody runs, and else to those who run") {
  laned t;
  std::array<job, 2> jobs = {job{true}, job{true}};
  auto add = [&](job& j) { std::async(std::launch::async, [&] { t.queue.add_from_outside(&j); }).get(); };
  add(jobs[0]);
  CHECK(t.calls == 1);
  CHECK(t.queue.take_lent(t.lane) == &jobs[0]);
  t.queue.add(&jobs[0]);
  CHECK(t.queue.take(true) == &jobs[0]); // runs from now on
  add(jobs[1]);
  CHECK(t.calls == 1);
  CHECK(t.queue.take(false) == &jobs[1]);
}

TEST_CASE("a thread takes jobs of a lane over once they are many") {
  laned t;
  std::vector<job> jobs(job_queue::max_left_to_lanes + 2, job{true});
  for (auto& j : jobs)
    t.queue.add_from_outside(&j);
  CHECK(t.queue.take(true) == &jobs[0]);
  CHECK(t.queue.take(false) == &jobs[1]);
  CHECK(t.queue.take_lent(t.lane) == &jobs[2]);
}

TEST_CASE("a thread that has taken jobs over leaves a lane the last ones") {
  std::vector<job> jobs(job_queue::left_to_lanes + 1, job{true});
  for (int i = 0; i < 100; ++i) { // in some the thread is to sleep before the last job comes
    laned t;
    for (auto& j : jobs)
      t.queue.add_from_outside(&j);
    std::promise<void> took_one;
    auto second = std::async(std::launch::async, [&] {
      CHECK(t.queue.take(true) == &jobs[0]); // it runs, and there is no other job
      took_one.set_value();
      return t.queue.take(false);
    });
    took_one.get_future().wait();
    std::this_thread::yield();
    job next;
    t.queue.add(&next);
    CHECK(second.get() == &next);
    CHECK(t.queue.take_lent(t.lane) == &jobs[1]);
  }
}

TEST_CASE("what comes of a job that was taken over goes back to a lane that goes on and has few") {
  laned t;
  std::vector<job> jobs(job_queue::left_to_lanes + 1, job{true});
  t.queue.add_from_outside(&jobs[0]);
  for (std::size_t i = 1; i < jobs.size(); ++i)
    t.queue.add(&jobs[i]);
  CHECK(t.queue.take(true) == &jobs.back());
  for (std::size_t i = 0; i + 1 < jobs.size(); ++i)
    REQUIRE(t.queue.take_lent(t.lane) == &jobs[i]);
  CHECK(t.calls == 1);
}

TEST_CASE("of several lanes that go on the one with the fewest jobs gets the next") {
  job_queue queue;
  const auto first = queue.open_lane(std::this_thread::get_id(), [] {});
  const auto second = queue.open_lane({}, [] {});
  std::array<job, 4> jobs = {job{true}, job{true}, job{true}, job{true}};
  queue.add_lent(first, &jobs[0]);
  queue.add_lent(first, &jobs[1]);
  queue.add_lent(second, &jobs[2]);
  queue.add(&jobs[3]);
  CHECK(queue.take_lent(second) == &jobs[2]);
  CHECK(queue.take_lent(second) == &jobs[3]);
}

TEST_CASE("a lane that nobody called gets what comes of a job of one who has others to do") {
  laned t;
  std::array<job, 3> jobs = {job{true}, job{false}, job{true}};
  t.queue.add(&jobs[0]);
  CHECK(t.queue.take(true) == &jobs[0]);
  t.queue.add(&jobs[1]);
  t.queue.add(&jobs[2]);
  CHECK(t.calls == 1);
  CHECK(t.queue.take_lent(t.lane) == &jobs[2]);
}

TEST_CASE("a lane that has lost its jobs gets none from others until its thread comes") {
  laned t;
  std::array<job, 4> jobs = {job{true}, job{true}, job{true}, job{true}};
  t.queue.add_from_outside(&jobs[0]);
  while (!t.queue.look(job_queue::lane_patience))
    continue;
  t.queue.add(&jobs[1]);
  std::async(std::launch::async, [&] { t.queue.add_from_outside(&jobs[2]); }).wait();
  CHECK(t.queue.take_lent(t.lane) == nullptr);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(t.queue.try_take() == &jobs[i]);
  std::async(std::launch::async, [&] { t.queue.add_from_outside(&jobs[3]); }).wait();
  CHECK(t.queue.take_lent(t.lane) == &jobs[3]);
}

TEST_CASE("a lane that goes on keeps its jobs, and one that does not loses them in time") {
  laned t;
  std::array<job, 3> jobs = {job{true}, job{true}, job{true}};
  for (auto& j : jobs)
    t.queue.add_from_outside(&j);
  const auto half = job_queue::lane_patience / 2;
  CHECK_FALSE(t.queue.look(half));
  CHECK(t.queue.take_lent(t.lane) == &jobs[0]);
  CHECK_FALSE(t.queue.look(half));
  CHECK_FALSE(t.queue.look(half));
  CHECK(t.queue.look(half));
  CHECK(t.queue.take(true) == &jobs[1]);
  CHECK(t.queue.take(false) == &jobs[2]);
  CHECK(t.queue.take_lent(t.lane) == nullptr);
}

TEST_CASE("a thread that sleeps frees the jobs of a lane that does not go on") {
  laned t;
  job only{true};
  auto thread = taker(t.queue, 1);
  t.queue.add_from_outside(&only); // called, the lane's thread does not come
  CHECK(thread.get().front() == &only);
}

TEST_CASE("a lane that is paused gets nothing, and what it has is for others") {
  laned t;
  std::array<job, 4> jobs = {job{true}, job{true}, job{true}, job{true}};
  t.queue.add_from_outside(&jobs[0]);
  t.queue.pause_lane(t.lane, job_queue::clock::time_point::max());
  t.queue.add_from_outside(&jobs[1]);
  t.queue.add_lent(t.lane, &jobs[3]); // of the job that took so long
  CHECK(t.queue.take_lent(t.lane) == nullptr);
  CHECK(t.queue.take(true) == &jobs[0]);
  CHECK(t.queue.take(false) == &jobs[1]);
  CHECK(t.queue.take(false) == &jobs[3]);
  t.queue.pause_lane(t.lane, job_queue::clock::time_point::min());
  t.queue.add_from_outside(&jobs[2]);
  CHECK(t.queue.take_lent(t.lane) == &jobs[2]);
}

TEST_CASE("lanes that are closed get nothing, and what they have is for others") {
  laned t;
  std::array<job, 3> jobs = {job{true}, job{true}, job{true}};
  t.queue.add_from_outside(&jobs[0]);
  t.queue.close_lanes();
  t.queue.add_from_outside(&jobs[1]);
  t.queue.add_lent(t.lane, &jobs[2]);
  for (auto& j : jobs)
    CHECK(t.queue.take(&j == &jobs[0]) == &j);
}

TEST_CASE("threads that are never idle free the jobs of a lane that does not go on") {
  laned t;
  job lent{true};
  job always;
  t.queue.add_from_outside(&lent);
  t.queue.add(&always);
  caf::resumable* taken = t.queue.take(true);
  while (taken == &always) { // ends once the lane's job has its turn
    t.queue.add(&always);
    taken = t.queue.take(false);
  }
  CHECK(taken == &lent);
}

TEST_CASE("a watch goes on while a lane has jobs, also when nothing new comes") {
  laned t;
  job slow;
  job lent{true};
  t.queue.add(&slow);
  CHECK(t.queue.take(true) == &slow); // and runs on
  auto thread = taker(t.queue, 1);
  t.queue.add_from_outside(&lent);
  CHECK(thread.get().front() == &lent);
}
