// The least HTTP/1.1 client that the workloads need: loopback, keep-alive, one thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe_floor {

template <class T>
using task = boost::asio::awaitable<T>;

// Takes a piece of a body as it comes.
using piece_sink = std::function<void(std::string_view)>;

class client {
 public:
  client(boost::asio::io_context& io, unsigned short port)
      : io_(io), peer_(boost::asio::ip::address_v4::loopback(), port) {}

  [[nodiscard]] boost::asio::io_context& io() const noexcept { return io_; }

  // Posts a chat completion and gives the body of the answer; with a sink, the body goes there instead. Throws when the
  // status is not 200 or the connection breaks. Arguments live until the task ends.
  [[nodiscard]] task<std::string> post(const std::string& body, const piece_sink* sink = nullptr);

 private:
  using socket = boost::asio::ip::tcp::socket;

  [[nodiscard]] task<std::unique_ptr<socket>> connect();
  [[nodiscard]] task<std::string> read_head(socket& s, std::string& rest);
  [[nodiscard]] task<void> read_chunks(socket& s, std::string& in, const piece_sink& sink);

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::endpoint peer_;
  std::vector<std::unique_ptr<socket>> idle_;
};

} // namespace troupe_floor
