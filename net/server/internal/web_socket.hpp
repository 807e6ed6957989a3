// A stream as a WebSocket (RFC 6455): messages out one at a time, small messages in.
//
// Beast keeps the protocol: masks, UTF-8 (1007), sizes (1009), pings and their time. permessage-deflate stays off: its
// windows cost memory for each client. Not thread-safe: everything happens on the thread of its gate.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/deadline.hpp>
#include <troupe/net/server/internal/rate_limiter.hpp>
#include <troupe/net/server/internal/server_core.hpp>
#include <troupe/net/server/internal/web_connection.hpp>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <memory>
#include <string>

namespace troupe::net {

class web_socket final : public server_client,
                         public stream_sink,
                         public std::enable_shared_from_this<web_socket> {
 public:
  web_socket(server_socket socket, std::shared_ptr<server_core> core, std::shared_ptr<io_gate> gate,
             client_place place, std::shared_ptr<stream_feed> feed);
  ~web_socket() override;

  void start(const boost::beast::http::request<boost::beast::http::string_body>& request);
  void write(stream_message message) override;
  void finish() override { close_soon(); }
  void close_soon() override;
  void close_now() override;

 private:
  using error_code = boost::system::error_code;

  void read();
  void end();
  void leave(boost::beast::websocket::close_code code);
  void say_goodbye();

  boost::beast::websocket::stream<server_socket> socket_;
  std::shared_ptr<server_core> core_;
  std::shared_ptr<io_gate> gate_;
  client_place place_;
  std::shared_ptr<stream_feed> feed_;
  deadline deadline_; // of a message to be taken
  boost::beast::flat_buffer input_;
  rate_limiter rate_; // of what the client says
  boost::beast::websocket::close_code code_ = boost::beast::websocket::close_code::going_away;
  std::string output_;
  bool accepted_ = false;
  bool writing_ = false;
  bool leaving_ = false; // a close frame follows the write that is under way
  bool closing_ = false; // it was sent
  bool ended_ = false;
};

} // namespace troupe::net
