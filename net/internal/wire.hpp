// The bytes of one connection: a non-blocking TCP socket, with TLS on it or without.
//
// Not thread-safe: used on the thread of its context. Every operation returns at once; `want_read` and
// `want_write` say what to wait for before it is tried again (with TLS a write may want to read, and the
// other way round).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/net/internal/tls.hpp>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace troupe::net {

enum class wire_status : std::uint8_t { done, want_read, want_write, end, failed };

struct wire_result {
  wire_status status;
  std::size_t bytes = 0; // only of `done`
};

class wire {
 public:
  // The bare executor spares the type erasure of tcp::socket at each operation.
  using socket_type =
      boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
  static constexpr std::size_t max_pieces = 64; // that one system call takes

  explicit wire(boost::asio::io_context& context) : socket_(context) {}

  [[nodiscard]] socket_type& socket() noexcept { return socket_; }
  // To be called once the socket is connected: no delays, no blocking. False if the system refuses.
  bool prepare();
  // Begins a TLS session on the connected socket; false when OpenSSL is out of memory.
  bool secure(const http_origin& origin);
  // One step of the handshake; `failed` leaves its reason in tls_failure().
  [[nodiscard]] wire_status handshake();
  [[nodiscard]] const std::string& tls_failure() const noexcept { return tls_failure_; }
  [[nodiscard]] bool is_secure() const noexcept { return ssl_ != nullptr; }

  [[nodiscard]] wire_result read(std::span<char> buffer);
  // Writes the first bytes of `pieces`, whose number is at most max_pieces. After want_* the same bytes come
  // again.
  [[nodiscard]] wire_result write(std::span<const std::string_view> pieces);
  void close() noexcept;

 private:
  [[nodiscard]] wire_result ssl_result(int returned);
  [[nodiscard]] wire_result write_secure(std::span<const std::string_view> pieces);

  socket_type socket_;
  std::unique_ptr<SSL, ssl_deleter> ssl_;
  std::string tls_failure_;
};

} // namespace troupe::net
