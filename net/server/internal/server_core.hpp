// What the connections of a server share: bounds, the site, counters, and the list of those that are open.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/io_gate.hpp>
#include <troupe/net/server/internal/web_site.hpp>
#include <troupe/runtime/server_limits.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace troupe::net {

// A connection in any of its forms: requests, WebSocket, event stream.
class server_client {
 public:
  virtual ~server_client() = default;
  // Ends when what is under way is done; streams say goodbye. On the connection's thread.
  virtual void close_soon() = 0;
  // On the connection's thread.
  virtual void close_now() = 0;
};

class server_core;

// A place among the open connections, which keeps its client alive. Given back by leave() or its destruction.
class client_place {
 public:
  client_place() = default;
  client_place(std::shared_ptr<server_core> core, std::uint64_t number)
      : core_(std::move(core)), number_(number) {}
  client_place(client_place&& other) noexcept : core_(std::move(other.core_)), number_(other.number_) {}
  client_place& operator=(client_place&& other) noexcept;
  ~client_place();
  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  // Who is kept, and asked to close, until the place is left.
  void hold(std::shared_ptr<server_client> client, std::shared_ptr<io_gate> gate);
  void leave();

 private:
  std::shared_ptr<server_core> core_;
  std::uint64_t number_ = 0;
};

class server_core : public std::enable_shared_from_this<server_core> {
 public:
  server_core(server_limits given, std::shared_ptr<web_site> what) : limits(given), site(std::move(what)) {}

  const server_limits limits;
  const std::shared_ptr<web_site> site;
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> messages{0}; // of streams, that clients have taken
  std::atomic<std::size_t> streams{0};

  // Empty when there are max_connections, or when the server closes.
  [[nodiscard]] client_place enter();
  // True when there was place; leave_stream gives it back.
  [[nodiscard]] bool enter_stream() noexcept;
  void leave_stream() noexcept { streams.fetch_sub(1); }

  [[nodiscard]] std::size_t open() const;
  [[nodiscard]] bool is_closing() const noexcept { return closing_.load(); }
  // Nobody enters any more, and all are asked to close.
  void close_all(bool at_once);
  // Waits until nobody is left; false when that takes longer.
  [[nodiscard]] bool wait_empty(std::chrono::milliseconds limit);

 private:
  friend class client_place;
  struct entry {
    std::shared_ptr<server_client> client;
    std::shared_ptr<io_gate> gate;
  };
  void leave(std::uint64_t number);
  void hold(std::uint64_t number, entry e);

  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::unordered_map<std::uint64_t, entry> open_;
  std::uint64_t next_ = 0;
  std::atomic<bool> closing_{false};
};

} // namespace troupe::net
