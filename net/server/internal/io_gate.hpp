// A way onto an Asio thread that may be used longer than the thread lives.
//
// The engine, its store and its actors answer on their own threads, perhaps after the server has ended; what they post then
// is dropped. Thread-safe. close() comes before the end of the context.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <mutex>
#include <utility>

namespace troupe::net {

class io_gate {
 public:
  explicit io_gate(boost::asio::io_context& context) : context_(&context) {}

  template <class Task>
  void post(Task&& task) {
    std::lock_guard lock{mutex_};
    if (context_ != nullptr)
      boost::asio::post(*context_, std::forward<Task>(task));
  }

  // On the thread itself, to wait there. Null after close().
  [[nodiscard]] boost::asio::io_context* context() {
    std::lock_guard lock{mutex_};
    return context_;
  }

  void close() {
    std::lock_guard lock{mutex_};
    context_ = nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* context_;
};

} // namespace troupe::net
