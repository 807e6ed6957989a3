// The queue of the scheduler's threads: nothing is lost, nothing waits behind a handler that takes long, and threads are
// woken no more often than they are needed.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/scheduler.hpp>

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
  resume_result resume(caf::execution_unit*, std::size_t) override { return done; }
  void intrusive_ptr_add_ref_impl() override {}
  void intrusive_ptr_release_impl() override {}
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
