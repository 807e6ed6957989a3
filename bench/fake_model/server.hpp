// An HTTP/1.1 server on loopback for chat completions: one thread, keep-alive, as many connections as there are files.
//
//   POST /v1/chat/completions   see script.hpp
//   GET /v1/models              one model
//   GET /stats                  what it has done since the last POST /reset
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "reply.hpp"

namespace fake_model {

struct statistics {
  std::uint64_t requests = 0;
  std::uint64_t streams = 0;
  std::uint64_t tool_calls = 0;
  std::uint64_t chunks = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t max_concurrent = 0;
  std::uint64_t connections = 0;
  std::uint64_t aborted = 0; // the client went away before the end of its answer
  std::uint64_t late_us = 0; // how late timers fired, in all: was the server the bottleneck?
  std::uint64_t late_max_us = 0;
  std::uint64_t timers = 0;
};

class server {
 public:
  // Listens at once; port 0 takes a free one. Throws when it cannot.
  server(boost::asio::io_context& io, unsigned short port);

  [[nodiscard]] unsigned short port() const { return acceptor_.local_endpoint().port(); }

  [[nodiscard]] reply handle(std::string_view method, std::string_view target, std::string_view body);

  // A connection tells how its answer went.
  statistics& numbers() noexcept { return numbers_; }
  void timer_was_late(std::chrono::steady_clock::duration by);

 private:
  void accept();
  [[nodiscard]] std::string stats_text() const;

  boost::asio::ip::tcp::acceptor acceptor_;
  statistics numbers_;
};

} // namespace fake_model
