// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/http_connection.hpp>
#include <troupe/net/internal/http_shard.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {

namespace http = boost::beast::http;

namespace {

// Reads in a row before others have their turn.
constexpr int max_reads_in_a_row = 16;

} // namespace

http_connection::http_connection(http_shard& shard, http_host& host,
                                 std::shared_ptr<const http_origin> origin)
    : shard_(shard), host_(host), origin_(std::move(origin)), wire_(shard.context()) {}

// --- opening

void http_connection::open(http_exchange_ptr first) {
  exchange_ = std::move(first);
  exchange_->connection = this;
  extend(exchange_->request.timeouts.connect);
  endpoints_ = shard_.dns().lookup(origin_->host(), origin_->port());
  if (!endpoints_.empty())
    return connect_next({});
  shard_.dns().resolve(origin_->host(), origin_->port(),
                       [self = shared_from_this()](const auto& found, const std::string& reason) {
                         if (self->is_closed())
                           return;
                         self->endpoints_ = found;
                         if (found.empty())
                           self->fail(http_error_kind::resolve, "The name has no address: " + reason + ".");
                         else
                           self->connect_next({});
                       });
}

void http_connection::connect_next(const std::string& reason) {
  if (next_endpoint_ == endpoints_.size()) {
    shard_.dns().forget(origin_->host(), origin_->port());
    return fail(http_error_kind::connect, "No connection: " + reason + ".");
  }
  // An address that swallows packets leaves time for the others.
  auto now = clock::now();
  attempt_deadline_ = now + (deadline_ - now) / static_cast<int>(endpoints_.size() - next_endpoint_);
  wire_.close();
  wire_.socket().async_connect(
      endpoints_[next_endpoint_++], [self = shared_from_this()](const boost::system::error_code& error) {
        if (self->is_closed())
          return;
        if (error)
          self->connect_next(error == boost::asio::error::operation_aborted ? "no answer in time"
                                                                            : error.message());
        else
          self->on_connected();
      });
}

void http_connection::on_connected() {
  endpoints_ = {};
  attempt_deadline_ = clock::time_point::max();
  if (!wire_.prepare())
    return fail(http_error_kind::connect, "The connection cannot be set up.");
  if (!origin_->tls())
    return transmit();
  if (!wire_.secure(*origin_))
    return fail(http_error_kind::tls, "TLS cannot be set up.");
  phase_ = phase::handshaking;
  continue_handshake();
}

void http_connection::continue_handshake() {
  switch (wire_.handshake()) {
  case wire_status::done:
    return transmit();
  case wire_status::want_read:
    return wait_read();
  case wire_status::want_write:
    return wait_write();
  default:
    return fail(http_error_kind::tls, "The TLS handshake failed: " + wire_.tls_failure() + ".");
  }
}

// --- sending

void http_connection::send(http_exchange_ptr next) {
  exchange_ = std::move(next);
  exchange_->connection = this;
  reused_ = true;
  transmit();
}

void http_connection::transmit() {
  phase_ = phase::busy;
  got_bytes_ = false;
  pending_.clear();
  exchange_->rewind();
  begin_response();
  extend(exchange_->request.timeouts.idle);
  write_more();
}

void http_connection::write_more() {
  std::array<std::string_view, wire::max_pieces> pieces;
  while (auto count = exchange_->next(pieces)) {
    auto [status, bytes] = wire_.write({pieces.data(), count});
    if (status == wire_status::done) {
      exchange_->advance(bytes);
      continue;
    }
    extend(exchange_->request.timeouts.idle);
    write_wants_read_ = status == wire_status::want_read;
    if (status == wire_status::want_write)
      wait_write();
    // The server may answer before it has read everything, or close; reading tells which.
    return wait_read();
  }
  exchange_->advance(0);
  extend(exchange_->request.timeouts.first_byte);
  wait_read();
}

void http_connection::wait_write() {
  if (std::exchange(writing_, true))
    return;
  wire_.socket().async_wait(wire::socket_type::wait_write,
                            [self = shared_from_this()](const boost::system::error_code&) {
                              self->writing_ = false;
                              if (self->phase_ == phase::handshaking)
                                return self->continue_handshake();
                              if (self->phase_ != phase::busy)
                                return;
                              if (!self->exchange_->all_written())
                                return self->write_more();
                              self->on_readable();
                            });
}

// --- receiving

void http_connection::wait_read() {
  if (std::exchange(reading_, true))
    return;
  wire_.socket().async_wait(wire::socket_type::wait_read,
                            [self = shared_from_this()](const boost::system::error_code& error) {
                              self->reading_ = false;
                              if (error && self->phase_ == phase::busy)
                                return self->on_end_of_stream(false);
                              self->on_readable();
                            });
}

void http_connection::on_readable() {
  if (phase_ == phase::handshaking)
    return continue_handshake();
  if (phase_ == phase::idle)
    return on_idle_readable();
  if (phase_ != phase::busy)
    return;
  if (std::exchange(write_wants_read_, false))
    write_more();
  for (int i = 0; i < max_reads_in_a_row; ++i) {
    auto buffer = shard_.read_buffer();
    std::copy(pending_.begin(), pending_.end(), buffer.begin());
    auto room = buffer.subspan(pending_.size());
    auto [status, bytes] = wire_.read(room);
    if (status == wire_status::want_read)
      return wait_read();
    if (status == wire_status::want_write)
      return wait_write();
    if (status != wire_status::done)
      return on_end_of_stream(status == wire_status::end);
    got_bytes_ = true;
    extend(exchange_->request.timeouts.idle);
    if (!consume({buffer.data(), pending_.size() + bytes}))
      return;
    // A short read has emptied the socket; TLS may hold more in its own buffer.
    if (bytes < room.size() && !wire_.is_secure())
      return wait_read();
  }
  boost::asio::post(shard_.context(), [self = shared_from_this()] { self->on_readable(); });
}

// The server closes, or TLS has something to say that is no data.
void http_connection::on_idle_readable() {
  if (wire_.read(shard_.read_buffer()).status == wire_status::want_read)
    wait_read();
  else
    close();
}

void http_connection::begin_response() {
  auto& parser = parser_.emplace(static_cast<response_events&>(*this), headers_);
  parser.header_limit(static_cast<std::uint32_t>(shard_.options().max_header_bytes));
  parser.body_limit(shard_.options().max_body_bytes);
  if (exchange_->request.method == "HEAD")
    parser.skip(true);
}

// False when the connection is no longer busy with this exchange.
bool http_connection::consume(std::string_view bytes) {
  while (!bytes.empty()) {
    boost::system::error_code error;
    auto used = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    if (phase_ != phase::busy)
      return false;
    if (!exchange_->is_active()) {
      close();
      return false;
    }
    bytes.remove_prefix(used);
    if (error && error != http::error::need_more) {
      fail_parse(error);
      return false;
    }
    if (parser_->is_done()) {
      if (!parser_->is_provisional()) {
        finish(bytes.empty());
        return false;
      }
      begin_response();
    } else if (error || used == 0) {
      break;
    }
  }
  if (bytes.size() > shard_.options().max_header_bytes) {
    fail_parse(http::error::header_limit);
    return false;
  }
  // `bytes` lies in the thread's buffer, never in pending_.
  pending_.assign(bytes);
  return true;
}

void http_connection::finish(bool nothing_left) {
  bool reusable = nothing_left && parser_->keep_alive() && exchange_->all_written();
  auto done = std::move(exchange_);
  done->connection = nullptr;
  parser_.reset();
  std::string().swap(pending_);
  if (reusable) {
    phase_ = phase::idle;
    wait_read();
    shard_.release(*this);
  } else {
    close();
  }
  if (auto handler = done->end())
    handler->on_end();
}

void http_connection::on_response_head(int status, const http_headers& headers) {
  if (phase_ == phase::busy && exchange_->is_active())
    exchange_->handler->on_head(status, headers);
}

void http_connection::on_response_data(std::string_view bytes) {
  if (phase_ == phase::busy && exchange_->is_active())
    exchange_->handler->on_data(bytes);
}

// --- ending

void http_connection::on_end_of_stream(bool whole) {
  if (whole && got_bytes_) {
    boost::system::error_code error;
    parser_->put_eof(error);
    if (phase_ == phase::busy && !error && parser_->is_done())
      return finish(false);
  }
  if (phase_ == phase::busy)
    fail(http_error_kind::dropped, got_bytes_ ? "The connection ended in the middle of the answer."
                                              : "The connection was closed before an answer came.");
}

void http_connection::fail_parse(const boost::system::error_code& error) {
  const auto& limits = shard_.options();
  if (error == http::error::header_limit)
    return fail(http_error_kind::header_too_large,
                "The answer's head is longer than " + std::to_string(limits.max_header_bytes) + " bytes.");
  if (error == http::error::body_limit)
    return fail(http_error_kind::body_too_large,
                "The answer is longer than " + std::to_string(limits.max_body_bytes) + " bytes.");
  fail(http_error_kind::bad_response, "The answer is not HTTP: " + error.message() + ".");
}

void http_connection::fail(http_error_kind kind, std::string what) {
  auto self = shared_from_this();
  auto failed = exchange_;
  bool again = kind == http_error_kind::dropped && reused_ && !got_bytes_ && !failed->retried;
  close();
  if (again && failed->is_active()) {
    failed->retried = true;
    return shard_.open_connection(host_, std::move(failed));
  }
  failed->fail(kind, origin_->text() + ": " + std::move(what));
}

void http_connection::check(clock::time_point now) {
  if (phase_ == phase::idle) {
    if (now >= deadline_)
      close();
    return;
  }
  if (!exchange_)
    return;
  if (now >= exchange_->total_deadline)
    return fail(http_error_kind::total_timeout, "The request took longer than it may.");
  if (now < deadline_) {
    if (phase_ == phase::connecting && now >= attempt_deadline_) {
      attempt_deadline_ = clock::time_point::max();
      wire_.close();
    }
    return;
  }
  if (phase_ != phase::busy)
    return fail(http_error_kind::connect_timeout, "No connection in time.");
  if (got_bytes_ || !exchange_->all_written())
    return fail(http_error_kind::idle_timeout, "The connection stood still in the middle of the exchange.");
  fail(http_error_kind::first_byte_timeout, "No answer in time.");
}

void http_connection::abandon() {
  auto abandoned = exchange_;
  close();
  if (abandoned)
    abandoned->drop();
}

void http_connection::close() noexcept {
  if (phase_ == phase::closed)
    return;
  auto self = shared_from_this();
  phase_ = phase::closed;
  wire_.close();
  if (exchange_)
    exchange_->connection = nullptr;
  exchange_.reset();
  shard_.forget(*this);
}

} // namespace troupe::net
