// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/wire.hpp>

#include <openssl/err.h>

#include <algorithm>
#include <cerrno>

#include <sys/socket.h>
#include <sys/uio.h>

namespace troupe::net {

namespace {

constexpr std::size_t tls_record = 16 * 1024;

} // namespace

bool wire::prepare() {
  boost::system::error_code error;
  socket_.non_blocking(true, error);
  if (!error)
    socket_.set_option(boost::asio::ip::tcp::no_delay(true), error);
  return !error;
}

bool wire::secure(const http_origin& origin) {
  ssl_ = make_tls_session(origin, socket_.native_handle());
  return ssl_ != nullptr;
}

wire_status wire::handshake() {
  ERR_clear_error();
  auto status = ssl_result(SSL_do_handshake(ssl_.get())).status;
  if (status == wire_status::end)
    status = wire_status::failed;
  if (status == wire_status::failed)
    tls_failure_ = net::tls_failure(ssl_.get());
  return status;
}

wire_result wire::ssl_result(int returned) {
  if (returned > 0)
    return {wire_status::done, static_cast<std::size_t>(returned)};
  switch (SSL_get_error(ssl_.get(), returned)) {
  case SSL_ERROR_WANT_READ:
    return {wire_status::want_read};
  case SSL_ERROR_WANT_WRITE:
    return {wire_status::want_write};
  case SSL_ERROR_ZERO_RETURN:
    return {wire_status::end};
  default:
    return {wire_status::failed};
  }
}

wire_result wire::read(std::span<char> buffer) {
  if (ssl_) {
    ERR_clear_error();
    return ssl_result(SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size())));
  }
  ssize_t n = 0;
  do
    n = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
  while (n < 0 && errno == EINTR);
  if (n > 0)
    return {wire_status::done, static_cast<std::size_t>(n)};
  if (n == 0)
    return {wire_status::end};
  return {errno == EAGAIN ? wire_status::want_read : wire_status::failed};
}

wire_result wire::write(std::span<const std::string_view> pieces) {
  if (ssl_)
    return write_secure(pieces);
  std::array<iovec, max_pieces> vectors;
  auto count = std::min(pieces.size(), max_pieces);
  for (std::size_t i = 0; i < count; ++i)
    vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  ssize_t n = 0;
  do
    n = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  if (n >= 0)
    return {wire_status::done, static_cast<std::size_t>(n)};
  return {errno == EAGAIN ? wire_status::want_write : wire_status::failed};
}

// Small pieces share a record: one record a piece would cost 29 bytes and a system call each.
wire_result wire::write_secure(std::span<const std::string_view> pieces) {
  ERR_clear_error();
  auto first = pieces.front();
  if (pieces.size() == 1 || first.size() >= tls_record)
    return ssl_result(
        SSL_write(ssl_.get(), first.data(), static_cast<int>(std::min(first.size(), tls_record))));
  std::array<char, tls_record> record;
  std::size_t used = 0;
  for (auto piece : pieces) {
    auto n = std::min(piece.size(), record.size() - used);
    std::copy_n(piece.data(), n, record.data() + used);
    used += n;
    if (used == record.size())
      break;
  }
  return ssl_result(SSL_write(ssl_.get(), record.data(), static_cast<int>(used)));
}

void wire::close() noexcept {
  boost::system::error_code ignored;
  socket_.close(ignored);
  ssl_.reset();
}

} // namespace troupe::net
