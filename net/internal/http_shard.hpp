// The part of a client that lives on one thread: its connections, and the requests that wait for one.
//
// Not thread-safe but for the constructor, options() and now(): all functions are called on the thread. Kept by the client and by
// its exchanges; close() ends all work, later requests are dropped.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/dns_cache.hpp>
#include <troupe/net/internal/http_connection.hpp>
#include <troupe/net/internal/http_exchange.hpp>
#include <troupe/net/internal/io_thread.hpp>

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::net {

struct taped_answer;

// What goes to one origin.
struct http_host {
  std::vector<std::shared_ptr<http_connection>> idle; // the latest last; some may have closed since
  std::deque<http_exchange_ptr> waiting;
  std::size_t open = 0; // connections, idle ones included
};

class http_shard : public std::enable_shared_from_this<http_shard> {
 public:
  // `options` hold the shares of this shard.
  http_shard(io_thread& thread, http_client_options options);

  void begin(http_exchange_ptr exchange);
  // Gives the recorded answer to the exchange's handler, or the error when there is none.
  void play(const http_exchange_ptr& exchange, const taped_answer& answer);
  void cancel(http_exchange& exchange);
  void close();

  // For connections.
  void open_connection(http_host& host, http_exchange_ptr first);
  void release(http_connection& connection); // it has become idle
  void forget(http_connection& connection);  // it has closed
  // One buffer for all reads on this thread; what it holds is gone at the next read.
  [[nodiscard]] std::span<char> read_buffer() noexcept { return buffer_; }
  [[nodiscard]] dns_cache& dns() noexcept { return dns_; }
  // Both on any thread.
  [[nodiscard]] const http_client_options& options() const noexcept { return options_; }
  [[nodiscard]] std::chrono::steady_clock::time_point now() const {
    return options_.now ? options_.now() : std::chrono::steady_clock::now();
  }
  [[nodiscard]] boost::asio::io_context& context() noexcept { return thread_.context(); }
  [[nodiscard]] io_thread& thread() noexcept { return thread_; }

 private:
  using clock = std::chrono::steady_clock;
  using timer_type = boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>,
                                                       boost::asio::io_context::executor_type>;

  void serve_waiting(http_host& host);
  void watch(const http_timeouts& timeouts);
  void set_timer();
  void on_timer();

  io_thread& thread_;
  http_client_options options_;
  dns_cache dns_;
  std::vector<char> buffer_;
  std::unordered_map<std::string, http_host> hosts_; // by pool_key
  std::vector<std::shared_ptr<http_connection>> connections_;
  timer_type timer_;
  std::chrono::milliseconds period_; // between two looks at the deadlines
  bool timer_set_ = false;
  bool closed_ = false;
};

} // namespace troupe::net
