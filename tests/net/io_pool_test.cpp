// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <thread>

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
