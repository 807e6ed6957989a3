// One thread that calls the event callbacks of all runs of a runtime.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/run_feed.hpp>

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
  // Ends the thread after the callback that it is in.
  ~dispatcher();
  dispatcher(const dispatcher&) = delete;
  dispatcher& operator=(const dispatcher&) = delete;

  void follow(std::shared_ptr<run_feed> feed, std::function<void(const event&)> callback);

 private:
  struct follower {
    std::shared_ptr<run_feed> feed;
    std::function<void(const event&)> callback;
    bool queued = false;
  };
  // Shared with the feeds' callbacks, which may outlive the dispatcher.
  struct shared {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::shared_ptr<follower>> ready; // each follower at most once
    std::vector<std::weak_ptr<follower>> all;    // as many as runs that are followed
    bool closed = false;
  };

  void work();
  void deliver(follower& f);

  log_sink log_;
  std::shared_ptr<shared> shared_ = std::make_shared<shared>();
  std::thread thread_;
};

} // namespace troupe
