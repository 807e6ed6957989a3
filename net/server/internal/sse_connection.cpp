// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/sse_connection.hpp>

#include <boost/asio/write.hpp>

#include <array>
#include <charconv>
#include <utility>

namespace troupe::net {
namespace {

constexpr std::string_view last_chunk = "0\r\n\r\n";

std::string event_text(const stream_message& message) {
  std::string text;
  text.reserve(message.text.size() + message.cursor.size() + 16);
  if (!message.cursor.empty())
    text.append("id: ").append(message.cursor).append("\n");
  // A JSON text of one line.
  text.append("data: ").append(message.text).append("\n\n");
  return text;
}

void append_chunk(std::string& out, std::string_view text) {
  std::array<char, 20> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), text.size(), 16).ptr;
  out.append(size.data(), end).append("\r\n").append(text).append("\r\n");
}

} // namespace

sse_connection::sse_connection(server_socket socket, std::shared_ptr<server_core> core,
                               std::shared_ptr<io_gate> gate, client_place place,
                               std::shared_ptr<stream_feed> feed)
    : socket_(std::move(socket)), core_(std::move(core)), gate_(std::move(gate)), place_(std::move(place)),
      feed_(std::move(feed)), deadline_(socket_.get_executor().context()) {}

sse_connection::~sse_connection() {
  if (!ended_)
    core_->leave_stream();
  feed_->stop();
}

void sse_connection::start(const answer_form& form) {
  place_.hold(shared_from_this(), gate_);
  chunked_ = !form.http_1_0;
  output_ = stream_head({false, form.http_1_0});
  writing_ = true;
  deadline_.set(core_->limits.write_time, weak_from_this(), &sse_connection::end);
  boost::asio::async_write(socket_, boost::asio::buffer(output_),
                           [self = shared_from_this()](const error_code& failed, std::size_t) {
                             self->writing_ = false;
                             if (failed || self->ended_ || self->leaving_)
                               return self->end();
                             self->output_.clear();
                             self->beat();
                             self->watch();
                             self->feed_->start(*self);
                           });
}

// The client says nothing more; what it does is leave.
void sse_connection::watch() {
  socket_.async_read_some(boost::asio::buffer(scratch_),
                          [self = shared_from_this()](const error_code& failed, std::size_t) {
                            if (failed || self->ended_)
                              return self->end();
                            self->watch();
                          });
}

void sse_connection::write(stream_message message) {
  if (ended_ || leaving_)
    return;
  auto text = event_text(message);
  if (writing_)
    waiting_ = std::move(text);
  else
    send(text, true);
}

void sse_connection::send(std::string_view text, bool is_message) {
  output_.clear();
  if (chunked_)
    append_chunk(output_, text);
  else
    output_ = text;
  writing_ = true;
  deadline_.set(core_->limits.write_time, weak_from_this(), &sse_connection::end);
  boost::asio::async_write(socket_, boost::asio::buffer(output_),
                           [self = shared_from_this(), is_message](const error_code& failed, std::size_t) {
                             self->writing_ = false;
                             if (failed || self->ended_)
                               return self->end();
                             self->beat();
                             if (self->leaving_)
                               return self->close_soon();
                             if (is_message) {
                               self->core_->messages.fetch_add(1, std::memory_order_relaxed);
                               return self->feed_->written();
                             }
                             if (!self->waiting_.empty())
                               self->send(std::exchange(self->waiting_, {}), true);
                           });
}

// Something now and then, so that a client that is gone is seen.
void sse_connection::beat() {
  deadline_.set(core_->limits.heartbeat, weak_from_this(), &sse_connection::on_beat);
}

void sse_connection::on_beat() {
  if (!ended_ && !writing_)
    send(":\n\n", false);
}

void sse_connection::close_soon() {
  leaving_ = true;
  feed_->stop();
  if (writing_)
    return;
  output_ = chunked_ ? std::string{last_chunk} : std::string{};
  writing_ = true;
  deadline_.set(core_->limits.write_time, weak_from_this(), &sse_connection::end);
  boost::asio::async_write(socket_, boost::asio::buffer(output_),
                           [self = shared_from_this()](const error_code&, std::size_t) { self->end(); });
}

void sse_connection::close_now() {
  end();
}

void sse_connection::end() {
  if (!std::exchange(ended_, true))
    core_->leave_stream();
  feed_->stop();
  deadline_.clear();
  error_code ignored;
  socket_.close(ignored);
  place_.leave();
}

} // namespace troupe::net
