// A connection of the server: one request after the other, until one asks for a stream.
//
// Life: waiting → headers → (body) → answering → writing → waiting, or → lingering → closed. What a client sends ahead
// (pipelining) stays in the buffer until its turn. Not thread-safe: everything happens on the thread of its gate. It is
// kept by its place in the server.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/answer_head.hpp>
#include <troupe/net/server/internal/deadline.hpp>
#include <troupe/net/server/internal/server_core.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace troupe::net {

using server_socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

class web_connection final : public server_client, public std::enable_shared_from_this<web_connection> {
 public:
  web_connection(server_socket socket, std::shared_ptr<server_core> core, std::shared_ptr<io_gate> gate,
                 client_place place);

  void start();
  void close_soon() override;
  void close_now() override;

 private:
  using error_code = boost::system::error_code;
  using parser_type = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class phase : std::uint8_t { waiting, headers, body, answering, writing, lingering, closed };

  void wait_for_request();
  void read_headers();
  void on_headers(const error_code& failed);
  [[nodiscard]] web_head read_head() const;
  [[nodiscard]] std::optional<web_answer> fault_of_framing() const;
  void read_body();
  void on_body(const error_code& failed);
  void answer();
  void on_read_error(const error_code& failed);
  void refuse(web_answer answer);
  void send(web_answer answer);
  void on_sent(const error_code& failed);
  void linger();
  void drop_input();
  void open_stream();
  void begin_stream(const web_answer& answer);
  void on_deadline();

  void enter(phase next, std::chrono::milliseconds time);

  server_socket socket_;
  std::shared_ptr<server_core> core_;
  std::shared_ptr<io_gate> gate_;
  client_place place_;
  deadline deadline_;
  boost::beast::flat_buffer buffer_;
  std::optional<parser_type> parser_;
  std::optional<admitted_request> admitted_;
  answer_form form_;
  phase phase_ = phase::waiting;
  bool timed_out_ = false;
  bool close_after_ = false;
  bool is_head_ = false;
  std::uint64_t turn_ = 0; // of the request; an answer that comes too late is of an earlier one
  std::string out_head_;
  std::string out_body_;
  std::size_t drained_ = 0;
  std::array<char, 4096> scratch_{};
  std::string peer_;
  std::string local_;
};

} // namespace troupe::net
