// An HTTP/1.1 client for many requests at once: keep-alive, TLS, proxies, bounds, deadlines; streaming answers, also
// compressed ones.
//
// Redirects are not followed. A request is sent again, once and on a fresh connection, only when a connection
// that had been kept alive was closed before the first byte of the answer: the server closed it for idleness,
// and has not looked at the request.
//
// Ownership: the pool of threads outlives the client; the client may be destroyed before its calls, which
// then end silently. Thread-safety: all functions may be called from any thread. Callbacks run on the thread
// of the connection, one at a time for a call; they are short and must not throw.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace troupe::net {

class http_shard;
class http_tape;
class io_pool;
class proxy_rules;
struct http_exchange;

// Takes the answer of one call: on_head, on_data any number of times, on_end; or on_error, at any point, as
// the last. Never called from inside http_client::start.
class http_handler {
 public:
  virtual ~http_handler() = default;
  virtual void on_head(int status, const http_headers& headers) = 0;
  // `bytes` lies in a buffer of the thread and is valid during the call only.
  virtual void on_data(std::string_view bytes) = 0;
  virtual void on_end() = 0;
  virtual void on_error(const http_error& error) = 0;
};

// A call that is under way. Destroying it cancels the call: its connection is closed at once, and no callback
// starts after that. It may be destroyed inside a callback.
class http_call {
 public:
  http_call() = default;
  explicit http_call(std::shared_ptr<http_exchange> exchange) noexcept;
  http_call(http_call&&) noexcept = default;
  http_call& operator=(http_call&& other) noexcept;
  ~http_call();

  // Lets the call run to its end without a handle; it can no longer be cancelled.
  void detach() noexcept { exchange_.reset(); }

 private:
  std::shared_ptr<http_exchange> exchange_;
};

struct http_client_options {
  std::size_t max_connections_per_host = 16'384;     // more requests wait for a free one
  std::size_t max_idle_per_host = 16'384;            // connections that are kept for the next request
  std::size_t max_waiting_per_host = 65'536;         // requests that wait; beyond it they fail with busy
  std::chrono::milliseconds idle_connection{30'000}; // after that an unused connection is closed
  std::chrono::milliseconds dns_ttl{60'000};         // how long a resolved name is believed
  std::size_t max_header_bytes = 64 * 1024;          // of an answer
  std::size_t max_body_bytes = 64 * 1024 * 1024;     // of an answer, as it comes and inflated
  std::size_t max_inflate_ratio = 200;          // of an inflated answer to what came, beyond its first MiB
  std::shared_ptr<const proxy_rules> proxies{}; // null: no proxy
  std::shared_ptr<http_tape> tape{};            // sees each request first; null: all go out
  // What deadlines are measured with, empty: steady_clock::now. Thread-safe. They are looked at every
  // longest_tick at the least, in real time.
  std::function<std::chrono::steady_clock::time_point()> now{};
  std::chrono::milliseconds longest_tick{1'000};
};

class http_client {
 public:
  // The limits count for the client; with several threads each thread has its share of the connections.
  explicit http_client(io_pool& pool, http_client_options options = {});
  // Closes all connections. Waits for the threads of the pool, but for the one on which it is called.
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  // Sends `request` and returns without blocking. `handler` is kept until the call has ended or was
  // cancelled.
  [[nodiscard]] http_call start(http_request request, std::shared_ptr<http_handler> handler);

 private:
  std::shared_ptr<http_tape> tape_;
  std::vector<std::shared_ptr<http_shard>> shards_;
  std::atomic<std::size_t> turn_{0};
};

} // namespace troupe::net
