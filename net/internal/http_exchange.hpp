// One request and what has become of it.
//
// Shared by the call's handle (any thread) and the shard (its thread). Only `state`, `shard` and `proxy`
// may be touched by both.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::net {

class http_connection;
class http_shard;
struct proxy_server;

struct http_exchange {
  enum class phase : std::uint8_t { active, cancelled, ended };
  using clock = std::chrono::steady_clock;

  http_exchange(http_request r, std::shared_ptr<http_handler> h, std::shared_ptr<http_shard> s);

  [[nodiscard]] bool is_active() const noexcept {
    return state.load(std::memory_order_acquire) == phase::active;
  }
  // Ends the exchange and gives the handler for its last callback; null when it was cancelled or has ended
  // before.
  [[nodiscard]] std::shared_ptr<http_handler> end();
  // Ends the exchange without a callback.
  void drop() { static_cast<void>(end()); }
  // The handler's last callback, if it is still wanted.
  void fail(http_error_kind kind, std::string message);

  // Begins to write (again).
  void rewind() noexcept { next_piece_ = 0, offset_ = 0; }
  [[nodiscard]] bool all_written() const noexcept { return next_piece_ == pieces_; }
  // The bytes that come next, at most pieces.size() of them at once; returns how many pieces are filled.
  std::size_t next(std::array<std::string_view, 64>& out) const noexcept;
  void advance(std::size_t bytes) noexcept;

  std::atomic<phase> state{phase::active};
  const std::shared_ptr<http_shard> shard;
  const proxy_server* const proxy; // that it goes through, of the shard's options; or null

  http_request request;
  std::shared_ptr<http_handler> handler;
  std::string head;                      // request line and header lines
  http_connection* connection = nullptr; // that serves it now
  bool retried = false;
  clock::time_point total_deadline = clock::time_point::max();

 private:
  [[nodiscard]] std::string_view piece(std::size_t i) const noexcept {
    return i == 0 ? std::string_view(head) : request.body[i - 1].view();
  }

  std::size_t pieces_;         // the head and the body's
  std::size_t next_piece_ = 0; // the first that is not wholly written
  std::size_t offset_ = 0;     // how much of it is written
};

using http_exchange_ptr = std::shared_ptr<http_exchange>;

} // namespace troupe::net
