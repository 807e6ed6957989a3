// One thread that calls the event callbacks of all runs of a runtime.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/run_feed.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {

// Thread-safe. A callback gets the events of its run in order, one at a time.
class dispatcher {
 public:
  explicit dispatcher(log_sink log);
  // Delivers what is ready, for at most `drain_limit`, and ends the thread. A callback that takes longer keeps the thread
  // and what it touches of this class alive, and nothing else.
  ~dispatcher();
  dispatcher(const dispatcher&) = delete;
  dispatcher& operator=(const dispatcher&) = delete;

  // Calls `task` once, in order with other tasks; nothing when the dispatcher has ended.
  void post(std::function<void()> task);

  void follow(std::shared_ptr<run_feed> feed, std::function<void(const event&)> callback);

  static constexpr std::chrono::milliseconds drain_limit{2'000};

 private:
  struct follower {
    std::shared_ptr<run_feed> feed;
    std::function<void(const event&)> callback;
    bool queued = false;
  };
  // Shared with the thread and the feeds' callbacks, which may outlive the dispatcher.
  struct shared {
    log_sink log;
    std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable over;
    std::deque<std::shared_ptr<follower>> ready; // each follower at most once
    std::deque<std::function<void()>> posted;    // as many as woken runs that were not yet told
    std::vector<std::weak_ptr<follower>> all;    // as many as runs that are followed
    bool closed = false;
    bool ended = false; // the thread's work is over
  };

  static void work(const std::shared_ptr<shared>& state);
  static void deliver(const shared& state, follower& f);
  static void call(const shared& state, const std::function<void()>& callback);

  std::shared_ptr<shared> shared_ = std::make_shared<shared>();
  std::thread::id thread_;
};

} // namespace troupe
