// One Asio thread with an io_context of its own.
//
// Everything that is bound to the context runs on this thread, one handler after the other; so what lives on
// it needs no lock. The thread runs from construction until stop().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <thread>

namespace troupe::net {

class io_thread {
 public:
  io_thread();
  ~io_thread();
  io_thread(const io_thread&) = delete;
  io_thread& operator=(const io_thread&) = delete;

  // Ends the thread after the handler that runs now; handlers that still wait are destroyed with the context.
  // Not to be called on this thread.
  void stop() noexcept;

  [[nodiscard]] boost::asio::io_context& context() noexcept { return context_; }
  [[nodiscard]] std::thread::id id() const noexcept { return thread_.get_id(); }
  [[nodiscard]] bool is_current() const noexcept { return std::this_thread::get_id() == id(); }

 private:
  // The hint lets Asio leave out the wake-up when the thread posts to itself; posting from elsewhere stays
  // safe.
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

} // namespace troupe::net
