// The one deadline of a connection, which moves on with it.
//
// Not thread-safe. The callback is called on the context's thread, unless the deadline was set anew or cleared before. Its
// owner keeps itself alive through what it gives to set().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace troupe::net {

class deadline {
 public:
  explicit deadline(boost::asio::io_context& context) : timer_(context) {}

  template <class Owner>
  void set(std::chrono::milliseconds after, std::weak_ptr<Owner> owner, void (Owner::*expired)()) {
    const auto turn = ++turn_;
    timer_.expires_after(after);
    timer_.async_wait(
        [this, turn, owner = std::move(owner), expired](const boost::system::error_code& failed) {
          auto alive = owner.lock();
          if (!failed && alive != nullptr && turn == turn_)
            ((*alive).*expired)();
        });
  }
  void clear() {
    ++turn_;
    timer_.cancel();
  }

 private:
  using clock = std::chrono::steady_clock;
  boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>,
                                    boost::asio::io_context::executor_type>
      timer_;
  std::uint64_t turn_ = 0;
};

} // namespace troupe::net
