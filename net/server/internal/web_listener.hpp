// Takes connections and gives them to the threads of a pool in turn.
//
// Thread-safe, but for open(). close() comes before the end of the pool.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/server/internal/deadline.hpp>
#include <troupe/net/server/internal/listen_address.hpp>
#include <troupe/net/server/internal/server_core.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace troupe::net {

class web_listener : public std::enable_shared_from_this<web_listener> {
 public:
  web_listener(io_pool& pool, std::shared_ptr<server_core> core);

  // Listens and takes connections; gives the port. Fails with bad_config when the address cannot be had.
  [[nodiscard]] result<std::uint16_t> open(const listen_address& at);
  // The address that it listens on.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  // Takes no more connections.
  void close();
  // Nothing gets onto the pool's threads any more.
  void close_gates();

 private:
  using executor = boost::asio::io_context::executor_type;

  void accept();
  void take(boost::asio::basic_stream_socket<boost::asio::ip::tcp, executor> socket, std::size_t thread);
  void go_on() { accept(); }

  io_pool& pool_;
  std::shared_ptr<server_core> core_;
  std::vector<std::shared_ptr<io_gate>> gates_; // one a thread
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, executor> acceptor_;
  deadline pause_;
  std::string address_;
  std::size_t turn_ = 0;
};

} // namespace troupe::net
