// A stream as server-sent events (WHATWG HTML, 9.2): the same messages, each as one event.
//
// Not thread-safe: everything happens on the thread of its gate.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/answer_head.hpp>
#include <troupe/net/server/internal/deadline.hpp>
#include <troupe/net/server/internal/server_core.hpp>
#include <troupe/net/server/internal/web_connection.hpp>

#include <array>
#include <memory>
#include <string>

namespace troupe::net {

class sse_connection final : public server_client,
                             public stream_sink,
                             public std::enable_shared_from_this<sse_connection> {
 public:
  sse_connection(server_socket socket, std::shared_ptr<server_core> core, std::shared_ptr<io_gate> gate,
                 client_place place, std::shared_ptr<stream_feed> feed);
  ~sse_connection() override;

  void start(const answer_form& form);
  void write(stream_message message) override;
  void finish() override { close_soon(); }
  void close_soon() override;
  void close_now() override;

 private:
  using error_code = boost::system::error_code;

  void send(std::string_view text, bool is_message);
  void watch();
  void beat();
  void on_beat();
  void end();

  server_socket socket_;
  std::shared_ptr<server_core> core_;
  std::shared_ptr<io_gate> gate_;
  client_place place_;
  std::shared_ptr<stream_feed> feed_;
  deadline deadline_;
  std::string output_;
  std::string waiting_; // a message that came while a heartbeat was written
  std::array<char, 256> scratch_{};
  bool chunked_ = true;
  bool writing_ = false;
  bool leaving_ = false;
  bool ended_ = false;
};

} // namespace troupe::net
