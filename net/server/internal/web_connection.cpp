// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/free_memory.hpp>
#include <troupe/net/server/internal/sse_connection.hpp>
#include <troupe/net/server/internal/web_connection.hpp>
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/net/server/internal/web_socket.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include <utility>

namespace troupe::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr int send_buffer_bytes = 64 * 1024;

constexpr std::size_t max_lingering_bytes = 256 * 1024;
constexpr std::chrono::milliseconds linger_time{2'000};

web_method method_of(http::verb verb) {
  switch (verb) {
  case http::verb::get:
    return web_method::get;
  case http::verb::head:
    return web_method::head;
  case http::verb::post:
    return web_method::post;
  case http::verb::delete_:
    return web_method::del;
  default:
    return web_method::other;
  }
}

std::string text_of(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  return address.to_string();
}

web_answer bad_request(std::string message) {
  return to_answer(web_problem{400, "bad_request", std::move(message)});
}

} // namespace

web_connection::web_connection(server_socket socket, std::shared_ptr<server_core> core,
                               std::shared_ptr<io_gate> gate, client_place place)
    : socket_(std::move(socket)), core_(std::move(core)), gate_(std::move(gate)), place_(std::move(place)),
      deadline_(socket_.get_executor().context()),
      buffer_(core_->limits.max_header_bytes + 64 * std::size_t{1024}) {}

void web_connection::start() {
  place_.hold(shared_from_this(), gate_);
  error_code failed;
  const auto peer = socket_.remote_endpoint(failed);
  if (!failed)
    peer_ = text_of(peer.address());
  const auto local = socket_.local_endpoint(failed);
  if (failed)
    return close_now();
  local_ = text_of(local.address());
  socket_.set_option(asio::ip::tcp::no_delay{true}, failed);
  // What a reader does not take waits here, so this is also how far ahead of a slow one a stream works.
  socket_.set_option(asio::socket_base::send_buffer_size{send_buffer_bytes}, failed);
  // The server may have begun to close before this connection stood in its list.
  close_after_ = core_->is_closing();
  wait_for_request();
}

void web_connection::enter(phase next, std::chrono::milliseconds time) {
  phase_ = next;
  deadline_.set(time, weak_from_this(), &web_connection::on_deadline);
}

void web_connection::close_soon() {
  close_after_ = true;
  if (phase_ == phase::waiting)
    close_now();
}

void web_connection::close_now() {
  phase_ = phase::closed;
  deadline_.clear();
  error_code ignored;
  socket_.close(ignored);
  place_.leave();
}

void web_connection::on_deadline() {
  switch (phase_) {
  case phase::headers:
  case phase::body: {
    timed_out_ = true;
    error_code ignored;
    socket_.cancel(ignored);
    return;
  }
  case phase::answering:
    ++turn_;
    return send(to_answer(error{errc::timeout, "There is no answer yet; it may still take effect."}));
  default:
    close_now();
  }
}

void web_connection::wait_for_request() {
  ++turn_;
  admitted_.reset();
  is_head_ = false;
  form_ = {};
  parser_.reset();
  if (buffer_.size() > 0)
    return read_headers();
  if (close_after_)
    return close_now();
  enter(phase::waiting, core_->limits.idle_time);
  auto space = buffer_.prepare(core_->limits.max_header_bytes);
  socket_.async_read_some(space, [self = shared_from_this()](const error_code& failed, std::size_t count) {
    if (failed || self->phase_ == phase::closed)
      return self->close_now();
    self->buffer_.commit(count);
    self->read_headers();
  });
}

void web_connection::read_headers() {
  enter(phase::headers, core_->limits.header_time);
  parser_.emplace();
  // Beast counts what a message may have at most; the body's bound is set once it is known who sends it.
  parser_->header_limit(static_cast<std::uint32_t>(core_->limits.max_header_bytes));
  parser_->body_limit(core_->limits.max_body_bytes);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](const error_code& failed, std::size_t count) {
                            // Beast bounds what is not complete yet; what comes in one piece may be larger.
                            const bool too_large = !failed && count > self->core_->limits.max_header_bytes;
                            self->on_headers(too_large ? make_error_code(http::error::header_limit) : failed);
                          });
}

void web_connection::on_read_error(const error_code& failed) {
  if (timed_out_)
    return refuse(to_answer(web_problem{408, "request_timeout", "The request was not complete in time."}));
  if (failed == http::error::end_of_stream || failed == http::error::partial_message)
    return close_now();
  if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
    return refuse(
        to_answer(web_problem{431, "headers_too_large", "The headers of the request are too large."}));
  if (failed == http::error::body_limit)
    return refuse(to_answer(
        web_problem{413, "too_large",
                    "The body is larger than " + std::to_string(core_->limits.max_body_bytes) + " bytes."}));
  if (failed.category() == http::make_error_code(http::error::bad_value).category())
    return refuse(bad_request("The request is not HTTP that can be read: " + failed.message() + "."));
  close_now();
}

web_head web_connection::read_head() const {
  const auto& message = parser_->get();
  const auto text = [&message](http::field name) { return std::string{message[name]}; };
  web_head head;
  head.method = method_of(message.method());
  head.target = std::string{message.target()};
  head.host = text(http::field::host);
  head.hosts = message.count(http::field::host);
  head.origin = text(http::field::origin);
  head.origins = message.count(http::field::origin);
  head.authorization = text(http::field::authorization);
  head.authorizations = message.count(http::field::authorization);
  head.cookie = text(http::field::cookie);
  head.content_type = text(http::field::content_type);
  head.accept = text(http::field::accept);
  head.accept_encoding = text(http::field::accept_encoding);
  head.if_none_match = text(http::field::if_none_match);
  head.last_event_id = std::string{message["Last-Event-ID"]};
  head.a2a_version = std::string{message["A2A-Version"]};
  head.has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0;
  head.is_upgrade = beast::websocket::is_upgrade(message);
  head.peer = peer_;
  head.local_address = local_;
  return head;
}

// What two readers of one request could understand in two ways (RFC 9112, 6.3 and 11.2).
std::optional<web_answer> web_connection::fault_of_framing() const {
  const auto& message = parser_->get();
  const auto lengths = message.count(http::field::content_length);
  const auto encodings = message.count(http::field::transfer_encoding);
  if (lengths + encodings > 1)
    return bad_request("A request has one Content-Length or one Transfer-Encoding, not both.");
  if (encodings == 1 && !beast::iequals(message[http::field::transfer_encoding], "chunked"))
    return bad_request("The only transfer encoding that is understood is chunked.");
  if (message.version() != 11 && message.version() != 10)
    return bad_request("Only HTTP/1.1 is understood.");
  if (encodings == 1 && message.version() == 10)
    return bad_request("HTTP/1.0 has no transfer encodings.");
  return std::nullopt;
}

void web_connection::on_headers(const error_code& failed) {
  if (phase_ == phase::closed)
    return;
  if (failed)
    return on_read_error(failed);
  core_->requests.fetch_add(1, std::memory_order_relaxed);
  form_ = {parser_->keep_alive() && !close_after_, parser_->get().version() == 10};
  is_head_ = parser_->get().method() == http::verb::head;
  if (auto fault = fault_of_framing())
    return refuse(std::move(*fault));
  auto admitted = core_->site->admit(read_head());
  if (auto* refusal = std::get_if<web_answer>(&admitted)) {
    if (!parser_->is_done())
      return refuse(std::move(*refusal));
    return send(std::move(*refusal));
  }
  admitted_ = std::move(std::get<admitted_request>(admitted));
  if (parser_->content_length().value_or(0) > admitted_->max_body)
    return on_read_error(http::error::body_limit);
  if (parser_->is_done())
    return answer();
  read_body();
}

void web_connection::read_body() {
  enter(phase::body, core_->limits.body_time);
  parser_->body_limit(admitted_->max_body);
  auto go_on = [self = shared_from_this()] {
    http::async_read(self->socket_, self->buffer_, *self->parser_,
                     [self](const error_code& failed, std::size_t) { self->on_body(failed); });
  };
  if (!beast::iequals(parser_->get()[http::field::expect], "100-continue"))
    return go_on();
  out_head_ = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(out_head_),
                    [self = shared_from_this(), go_on](const error_code& failed, std::size_t) {
                      if (failed || self->phase_ == phase::closed)
                        return self->close_now();
                      go_on();
                    });
}

void web_connection::on_body(const error_code& failed) {
  if (phase_ == phase::closed)
    return;
  if (failed)
    return on_read_error(failed);
  answer();
}

void web_connection::answer() {
  if (admitted_->is_stream)
    return open_stream();
  enter(phase::answering, core_->limits.answer_time);
  // Whoever answers may keep the reply longer than the server lives, so it keeps nothing of the connection.
  web_reply reply = [weak = weak_from_this(), gate = gate_, turn = turn_](web_answer ready) {
    gate->post([weak, turn, ready = std::move(ready)]() mutable {
      auto self = weak.lock();
      if (self != nullptr && self->turn_ == turn && self->phase_ == phase::answering)
        self->send(std::move(ready));
    });
  };
  core_->site->answer(std::move(*admitted_), std::move(parser_->get().body()), std::move(reply));
}

// The rest of the request is not read, so the connection ends with this answer.
void web_connection::refuse(web_answer answer) {
  form_.keep_alive = false;
  close_after_ = true;
  buffer_.clear();
  send(std::move(answer));
}

void web_connection::send(web_answer answer) {
  if (answer.stream)
    return begin_stream(answer);
  form_.keep_alive = form_.keep_alive && !close_after_;
  enter(phase::writing, core_->limits.write_time);
  out_head_ = answer_head(answer, form_);
  out_body_ = is_head_ || answer.status == 304 ? std::string{} : std::move(answer.body);
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(out_head_), asio::buffer(out_body_)};
  asio::async_write(socket_, buffers, [self = shared_from_this()](const error_code& failed, std::size_t) {
    self->on_sent(failed);
  });
}

void web_connection::on_sent(const error_code& failed) {
  if (failed || phase_ == phase::closed)
    return close_now();
  free_memory(out_body_);
  if (!form_.keep_alive)
    return linger();
  wait_for_request();
}

// Closing a socket that holds unread input resets it, and the client may lose the answer: it is told first that nothing
// more comes, and what it still sends is dropped for a moment.
void web_connection::linger() {
  enter(phase::lingering, linger_time);
  error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  drop_input();
}

void web_connection::drop_input() {
  socket_.async_read_some(
      asio::buffer(scratch_), [self = shared_from_this()](const error_code& failed, std::size_t count) {
        self->drained_ += count;
        if (failed || self->phase_ == phase::closed || self->drained_ > max_lingering_bytes)
          return self->close_now();
        self->drop_input();
      });
}

// The answer to a request with a body that goes on as events.
void web_connection::begin_stream(const web_answer& answer) {
  if (core_->is_closing() || !core_->enter_stream())
    return refuse(
        to_answer(web_problem{503, "busy", "There are too many streams, or the server is about to end."}));
  auto feed = answer.stream(gate_);
  phase_ = phase::closed; // here; it goes on in its other form
  deadline_.clear();
  std::make_shared<sse_connection>(std::move(socket_), core_, gate_, std::move(place_), std::move(feed))
      ->start(form_);
}

void web_connection::open_stream() {
  if (core_->is_closing())
    return refuse(to_answer(error{errc::shutting_down, "The server is about to end."}));
  if (admitted_->head.is_upgrade && buffer_.size() > 0)
    return refuse(bad_request("A WebSocket client waits for the answer before it sends frames."));
  if (!core_->enter_stream())
    return refuse(to_answer(web_problem{503, "busy", "There are too many streams."}));
  auto opened = core_->site->open_stream(*admitted_, gate_);
  if (auto* refusal = std::get_if<web_answer>(&opened)) {
    core_->leave_stream();
    return send(std::move(*refusal));
  }
  auto feed = std::move(std::get<std::shared_ptr<stream_feed>>(opened));
  phase_ = phase::closed; // here; it goes on in its other form
  deadline_.clear();
  if (admitted_->head.is_upgrade)
    std::make_shared<web_socket>(std::move(socket_), core_, gate_, std::move(place_), std::move(feed))
        ->start(parser_->get());
  else
    std::make_shared<sse_connection>(std::move(socket_), core_, gate_, std::move(place_), std::move(feed))
        ->start(form_);
}

} // namespace troupe::net
