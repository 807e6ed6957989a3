// One connection to a server: opened for a request, then used for others, one at a time.
//
// Life: connecting → (tunnelling) → (handshaking) → busy ⇄ idle → closed. Not thread-safe: everything happens on the shard's
// thread. Kept by the shard and by its waiting handlers. After close() it touches neither shard nor exchange
// any more.
//
// Reads go into a buffer of the thread, so a connection holds no buffer of its own while it waits; deadlines
// are points in time that the shard looks at now and then, so no timer is set or cancelled for a request.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/dns_cache.hpp>
#include <troupe/net/internal/gzip_inflater.hpp>
#include <troupe/net/internal/http_exchange.hpp>
#include <troupe/net/internal/response_parser.hpp>
#include <troupe/net/internal/wire.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace troupe::net {

struct http_host;
struct proxy_server;

class http_connection final : public std::enable_shared_from_this<http_connection>, private response_events {
 public:
  using clock = std::chrono::steady_clock;

  http_connection(http_shard& shard, http_host& host, std::shared_ptr<const http_origin> origin);

  // Connects, and then sends `first`.
  void open(http_exchange_ptr first);
  // Only of an idle connection.
  void send(http_exchange_ptr next);
  // To be called when the connection has become idle: how long it is kept.
  void keep_until(clock::time_point deadline) noexcept { deadline_ = deadline; }
  // Ends whatever passes its deadline.
  void check(clock::time_point now);
  // The exchange under way is let go; it can be failed or sent again by another connection.
  void close() noexcept;
  // Closes, and ends the exchange under way without a callback.
  void abandon();

  [[nodiscard]] bool is_closed() const noexcept { return phase_ == phase::closed; }
  [[nodiscard]] http_host& host() noexcept { return host_; }
  [[nodiscard]] const http_origin& origin() const noexcept { return *origin_; }

  std::size_t place = 0; // in the shard's list

 private:
  enum class phase : std::uint8_t { connecting, tunnelling, handshaking, busy, idle, closed };

  // Where the connection goes to: the proxy, or else the origin.
  [[nodiscard]] const std::string& peer_host() const noexcept;
  [[nodiscard]] std::uint16_t peer_port() const noexcept;
  // For messages about the way to the host.
  [[nodiscard]] std::string by_proxy() const;
  void take_addresses(const dns_cache::endpoints& found);
  [[nodiscard]] bool may_reach();
  void connect_next(const std::string& reason);
  void on_connected();
  // Asks the proxy for a tunnel (RFC 9110, 9.3.6).
  void begin_tunnel();
  void continue_tunnel();
  void on_tunnel_answer(std::string_view head);
  void secure();
  void continue_handshake();
  void transmit();
  void write_more();
  void wait_read();
  void wait_write();
  void on_readable();
  void on_idle_readable();
  bool consume(std::string_view bytes);
  void begin_response();
  void finish(bool nothing_left);
  // `whole` when the peer has ended the stream in order: that may be the end of an answer.
  void on_end_of_stream(bool whole);
  void fail(http_error_kind kind, std::string what);
  void fail_parse(const boost::system::error_code& error);
  void extend(std::chrono::milliseconds time);
  // Gives inflated bytes to the exchange; false when it wants no more.
  [[nodiscard]] bool deliver(std::string_view bytes);
  void begin_inflating(std::string_view encoding);

  void on_response_head(int status, const http_headers& headers) override;
  void on_response_data(std::string_view bytes) override;

  http_shard& shard_;
  http_host& host_;
  std::shared_ptr<const http_origin> origin_;
  wire wire_;
  phase phase_ = phase::connecting;
  bool reading_ = false;          // a wait for reading is set
  bool writing_ = false;          // a wait for writing is set
  bool write_wants_read_ = false; // TLS: the write goes on once something was read
  bool reused_ = false;
  bool got_bytes_ = false; // of the answer under way
  clock::time_point deadline_ = clock::time_point::max();
  clock::time_point attempt_deadline_ = clock::time_point::max();
  dns_cache::endpoints endpoints_;
  std::size_t next_endpoint_ = 0;

  http_exchange_ptr exchange_;
  http_headers headers_;
  std::optional<response_parser> parser_;
  std::string
      pending_; // bytes that the parser, or the reader of the proxy's answer, wants to see again with more
  std::unique_ptr<gzip_inflater> inflater_; // of the answer under way, when it is compressed
  std::string tunnel_request_;              // what the proxy has not been sent yet
  const proxy_server* proxy_ = nullptr;     // that the connection goes through; of the shard's options
};

} // namespace troupe::net
