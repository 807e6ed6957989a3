// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/free_memory.hpp>
#include <troupe/net/internal/address_rules.hpp>
#include <troupe/net/internal/http_connection.hpp>
#include <troupe/net/internal/http_shard.hpp>
#include <troupe/net/proxy.hpp>

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

bool same_word(std::string_view text, std::string_view lower_case) noexcept {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

} // namespace

http_connection::http_connection(http_shard& shard, http_host& host,
                                 std::shared_ptr<const http_origin> origin)
    : shard_(shard), host_(host), origin_(std::move(origin)), wire_(shard.context()) {}

// --- opening

void http_connection::open(http_exchange_ptr first) {
  exchange_ = std::move(first);
  exchange_->connection = this;
  proxy_ = exchange_->proxy;
  extend(exchange_->request.timeouts.connect);
  auto known = shard_.dns().lookup(peer_host(), peer_port());
  if (!known.empty())
    return take_addresses(known);
  shard_.dns().resolve(peer_host(), peer_port(),
                       [self = shared_from_this()](const auto& found, const std::string& reason) {
                         if (self->is_closed())
                           return;
                         if (found.empty())
                           self->fail(self->proxy_ ? http_error_kind::proxy : http_error_kind::resolve,
                                      "The name " + self->by_proxy() + "has no address: " + reason + ".");
                         else
                           self->take_addresses(found);
                       });
}

void http_connection::take_addresses(const dns_cache::endpoints& found) {
  endpoints_ = found;
  if (origin_->reach() == address_reach::public_only && !may_reach())
    return fail(http_error_kind::refused_address,
                origin_->host() + " is not a public address, and this request may reach no other.");
  connect_next({});
}

// Leaves the addresses that may be reached. A proxy is the user's own; what it resolves cannot be seen here.
bool http_connection::may_reach() {
  if (proxy_ != nullptr) {
    return may_be_public(origin_->host());
  }
  std::erase_if(endpoints_, [](const auto& e) { return !is_public_address(e.address()); });
  return !endpoints_.empty();
}

void http_connection::connect_next(const std::string& reason) {
  if (next_endpoint_ == endpoints_.size()) {
    shard_.dns().forget(peer_host(), peer_port());
    return fail(proxy_ ? http_error_kind::proxy : http_error_kind::connect,
                "No connection " + by_proxy() + "could be made: " + reason + ".");
  }
  // An address that swallows packets leaves time for the others.
  auto now = shard_.now();
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
  if (proxy_ != nullptr)
    return begin_tunnel();
  secure();
}

void http_connection::secure() {
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

// --- the way through a proxy

const std::string& http_connection::peer_host() const noexcept {
  return proxy_ != nullptr ? proxy_->host : origin_->host();
}

std::uint16_t http_connection::peer_port() const noexcept {
  return proxy_ != nullptr ? proxy_->port : origin_->port();
}

std::string http_connection::by_proxy() const {
  return proxy_ != nullptr ? "of the proxy " + proxy_->text + " " : std::string{};
}

void http_connection::begin_tunnel() {
  const auto& url = origin_->text();
  const auto target = url.substr(url.find("//") + 2);
  tunnel_request_ = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  if (!proxy_->authorization.empty())
    tunnel_request_.append("Proxy-Authorization: ").append(proxy_->authorization).append("\r\n");
  tunnel_request_.append("\r\n");
  pending_.clear();
  phase_ = phase::tunnelling;
  continue_tunnel();
}

void http_connection::continue_tunnel() {
  while (!tunnel_request_.empty()) {
    const std::string_view piece = tunnel_request_;
    const auto [status, bytes] = wire_.write({&piece, 1});
    if (status == wire_status::want_write)
      return wait_write();
    if (status != wire_status::done)
      return fail(http_error_kind::proxy, "The proxy " + proxy_->text + " has closed the connection.");
    tunnel_request_.erase(0, bytes);
  }
  for (;;) {
    auto buffer = shard_.read_buffer();
    const auto [status, bytes] = wire_.read(buffer);
    if (status == wire_status::want_read)
      return wait_read();
    if (status != wire_status::done)
      return fail(http_error_kind::proxy, "The proxy " + proxy_->text + " has closed the connection.");
    pending_.append(buffer.data(), bytes);
    if (const auto end = pending_.find("\r\n\r\n"); end != std::string::npos)
      return on_tunnel_answer(std::string_view(pending_).substr(0, end + 4));
    if (pending_.size() > shard_.options().max_header_bytes)
      return fail(http_error_kind::proxy, "The answer of the proxy " + proxy_->text + " is too long.");
  }
}

void http_connection::on_tunnel_answer(std::string_view head) {
  // "HTTP/1.1 200 …"
  const bool is_http = head.size() > 12 && head.starts_with("HTTP/1.") && head[8] == ' ';
  const auto status = is_http ? head.substr(9, 3) : std::string_view("no");
  if (status == "407")
    return fail(http_error_kind::proxy_refused,
                "The proxy " + proxy_->text +
                    " answered 407: it wants a user name and a password, or those in its URL are wrong.");
  if (!status.starts_with('2')) {
    const bool passing = status.starts_with('5');
    return fail(passing ? http_error_kind::proxy : http_error_kind::proxy_refused,
                "The proxy " + proxy_->text + " gave " +
                    (is_http ? "status " + std::string(status) : "no HTTP") +
                    " when it was asked for a way to the host.");
  }
  // The server waits for our first word, so nothing can follow yet.
  if (head.size() != pending_.size())
    return fail(http_error_kind::proxy, "The proxy " + proxy_->text + " sent data before it was asked.");
  free_memory(pending_);
  secure();
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
                              if (self->phase_ == phase::tunnelling)
                                return self->continue_tunnel();
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
  if (phase_ == phase::tunnelling)
    return continue_tunnel();
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
    if (!consume({buffer.data(), pending_.size() + bytes}))
      return;
    // A head that comes byte by byte gains no time by that.
    if (parser_->is_header_done())
      extend(exchange_->request.timeouts.idle);
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
  inflater_.reset();
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
  if (inflater_ && !inflater_->is_complete())
    return fail(http_error_kind::bad_response, "The compressed answer ends before its end.");
  inflater_.reset();
  bool reusable = nothing_left && parser_->keep_alive() && exchange_->all_written();
  auto done = std::move(exchange_);
  done->connection = nullptr;
  parser_.reset();
  free_memory(pending_);
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
  if (phase_ != phase::busy || !exchange_->is_active())
    return;
  begin_inflating(headers.find("content-encoding"));
  if (phase_ == phase::busy)
    exchange_->handler->on_head(status, headers);
}

void http_connection::begin_inflating(std::string_view encoding) {
  if (encoding.empty() || same_word(encoding, "identity"))
    return;
  if (!same_word(encoding, "gzip") && !same_word(encoding, "x-gzip"))
    return fail(http_error_kind::bad_response, "The answer has the content encoding '" +
                                                   std::string(encoding.substr(0, 40)) +
                                                   "', which was not asked for.");
  const auto& limits = shard_.options();
  inflater_ = std::make_unique<gzip_inflater>(inflate_bounds{
      .max_bytes = limits.max_body_bytes, .max_ratio = std::max<std::size_t>(1, limits.max_inflate_ratio)});
}

bool http_connection::deliver(std::string_view bytes) {
  exchange_->handler->on_data(bytes);
  return phase_ == phase::busy && exchange_->is_active();
}

void http_connection::on_response_data(std::string_view bytes) {
  if (phase_ != phase::busy || !exchange_->is_active())
    return;
  if (!inflater_) {
    static_cast<void>(deliver(bytes));
    return;
  }
  switch (inflater_->feed(bytes, [this](std::string_view out) { return deliver(out); })) {
  case inflate_status::ok:
  case inflate_status::stopped:
    return;
  case inflate_status::damaged:
    return fail(http_error_kind::bad_response, "The compressed answer is damaged.");
  case inflate_status::too_large:
    return fail(http_error_kind::body_too_large,
                "The compressed answer is longer than allowed once it is inflated.");
  }
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

void http_connection::extend(std::chrono::milliseconds time) {
  deadline_ = shard_.now() + time;
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
  if (parser_->is_header_done() || !exchange_->all_written())
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
