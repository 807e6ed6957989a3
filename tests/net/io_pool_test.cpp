// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

using namespace troupe::net;
using namespace std::chrono_literals;

TEST_CASE("a timer calls once, on a thread of the pool") {
  io_pool pool({.threads = 2});
  CHECK(pool.size() == 2);
  std::promise<std::thread::id> called;
  auto handle = pool.after(1ms, [&] { called.set_value(std::this_thread::get_id()); });
  CHECK(called.get_future().get() != std::this_thread::get_id());
}

TEST_CASE("a timer whose handle is gone does not call") {
  io_pool pool;
  std::atomic<int> calls{0};
  std::promise<void> later;
  pool.after(1ms, [&] { ++calls; }).reset();
  // The same thread comes to the later one afterwards.
  auto handle = pool.after(5ms, [&] { later.set_value(); });
  later.get_future().wait();
  CHECK(calls == 0);
}

TEST_CASE("a timer without delay calls as others do, in its turn, and not once its handle is gone") {
  io_pool pool;
  std::promise<void> begins;
  auto first = pool.after(0ms, [gate = begins.get_future().share()] { gate.wait(); });
  int calls = 0;
  pool.after(0ms, [&] { ++calls; }).reset();
  std::promise<std::thread::id> called;
  auto last = pool.after(-1ms, [&] { called.set_value(std::this_thread::get_id()); });
  begins.set_value();
  CHECK(called.get_future().get() == pool.lent_thread_id(0));
  CHECK(calls == 0);
}

TEST_CASE("a timer's handle may be destroyed in its callback, and a pool with waiting timers ends at once") {
  std::unique_ptr<troupe::timer_handle> handle;
  auto kept = std::make_shared<int>(1);
  std::promise<void> called;
  {
    io_pool pool;
    std::promise<void> set;
    auto gate = set.get_future().share();
    handle = pool.after(0ms, [&, gate] {
      gate.wait();
      handle.reset();
      called.set_value();
    });
    set.set_value();
    called.get_future().wait();
    auto waiting = pool.after(1h, [kept] {});
    CHECK(kept.use_count() == 2);
  }
  CHECK(kept.use_count() == 1);
}

namespace {

// Says twice that there is more.
struct counted_work final : troupe::lent_work {
  bool run() noexcept override {
    threads.push_back(std::this_thread::get_id());
    if (threads.size() < 3)
      return true;
    done.set_value();
    return false;
  }
  std::vector<std::thread::id> threads;
  std::promise<void> done;
};

} // namespace

TEST_CASE("lent work runs on its thread until there is no more") {
  io_pool pool({.threads = 2});
  CHECK(pool.lent_threads() == 2);
  auto work = std::make_shared<counted_work>();
  pool.lend(1, work);
  work->done.get_future().wait();
  CHECK(work->threads == std::vector<std::thread::id>(3, pool.lent_thread_id(1)));
}
