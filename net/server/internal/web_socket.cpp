// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/web_socket.hpp>

#include <boost/asio/buffer.hpp>

#include <utility>

namespace troupe::net {

namespace websocket = boost::beast::websocket;

web_socket::web_socket(server_socket socket, std::shared_ptr<server_core> core, std::shared_ptr<io_gate> gate,
                       client_place place, std::shared_ptr<stream_feed> feed)
    : socket_(std::move(socket)), core_(std::move(core)), gate_(std::move(gate)), place_(std::move(place)),
      feed_(std::move(feed)), deadline_(socket_.get_executor().context()),
      input_(core_->limits.max_frame_bytes + 1024),
      rate_({core_->limits.stream_messages, core_->limits.stream_messages * 2, 1}) {}

web_socket::~web_socket() {
  if (!ended_)
    core_->leave_stream();
  feed_->stop();
}

void web_socket::start(const boost::beast::http::request<boost::beast::http::string_body>& request) {
  place_.hold(shared_from_this(), gate_);
  websocket::stream_base::timeout times{};
  times.handshake_timeout = core_->limits.header_time;
  times.idle_timeout = core_->limits.stream_idle;
  times.keep_alive_pings = true;
  socket_.set_option(times);
  websocket::permessage_deflate deflate;
  deflate.server_enable = false;
  socket_.set_option(deflate);
  socket_.read_message_max(core_->limits.max_frame_bytes);
  socket_.text(true);
  socket_.async_accept(request, [self = shared_from_this()](const error_code& failed) {
    if (failed || self->ended_)
      return self->end();
    self->accepted_ = true;
    if (self->core_->is_closing())
      self->close_soon();
    if (self->leaving_)
      return self->say_goodbye();
    self->feed_->start(*self);
    self->read();
  });
}

void web_socket::read() {
  socket_.async_read(input_, [self = shared_from_this()](const error_code& failed, std::size_t) {
    if (failed || self->ended_)
      return self->end();
    const auto data = self->input_.cdata();
    self->feed_->receive({static_cast<const char*>(data.data()), data.size()});
    self->input_.consume(self->input_.size());
    if (self->rate_.take({}, std::chrono::steady_clock::now()).count() > 0)
      return self->leave(websocket::close_code::policy_error);
    self->read();
  });
}

void web_socket::write(stream_message message) {
  if (ended_ || leaving_)
    return;
  output_ = std::move(message.text);
  writing_ = true;
  deadline_.set(core_->limits.write_time, weak_from_this(), &web_socket::end);
  socket_.async_write(boost::asio::buffer(output_),
                      [self = shared_from_this()](const error_code& failed, std::size_t) {
                        self->writing_ = false;
                        if (failed || self->ended_)
                          return self->end();
                        self->deadline_.clear();
                        self->output_.clear();
                        self->core_->messages.fetch_add(1, std::memory_order_relaxed);
                        if (self->leaving_)
                          return self->say_goodbye();
                        self->feed_->written();
                      });
}

void web_socket::close_soon() {
  leave(websocket::close_code::going_away);
}

void web_socket::leave(websocket::close_code code) {
  if (std::exchange(leaving_, true))
    return;
  code_ = code;
  feed_->stop();
  if (accepted_ && !writing_)
    say_goodbye();
}

void web_socket::say_goodbye() {
  if (ended_ || std::exchange(closing_, true))
    return;
  deadline_.set(core_->limits.write_time, weak_from_this(), &web_socket::end);
  socket_.async_close(websocket::close_reason{code_},
                      [self = shared_from_this()](const error_code&) { self->end(); });
}

void web_socket::close_now() {
  end();
}

void web_socket::end() {
  if (!std::exchange(ended_, true))
    core_->leave_stream();
  feed_->stop();
  deadline_.clear();
  error_code ignored;
  boost::beast::get_lowest_layer(socket_).close(ignored);
  place_.leave();
}

} // namespace troupe::net
