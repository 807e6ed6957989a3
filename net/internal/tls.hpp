// TLS on top of a non-blocking socket, straight on OpenSSL: its buffers are given back while a connection
// idles, where Asio's stream would hold 34 KiB a connection.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_message.hpp>

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace troupe::net {

struct ssl_deleter {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(BIO_METHOD* method) const noexcept { BIO_meth_free(method); }
};

// How connections to one origin are secured. Immutable once made; sessions are made from it on any thread.
struct http_origin::tls_state {
  std::unique_ptr<BIO_METHOD, ssl_deleter> socket_method;
  std::unique_ptr<SSL_CTX, ssl_deleter> context;
};

// Trusts the system's authorities, or only those of the PEM file `ca_file` when it is given.
[[nodiscard]] result<std::unique_ptr<const http_origin::tls_state>>
make_tls_state(const std::string& ca_file);

// A client session on the socket `fd`, which stays the caller's, that accepts only a certificate for the
// origin's host. Null when OpenSSL is out of memory. The origin outlives the session.
[[nodiscard]] std::unique_ptr<SSL, ssl_deleter> make_tls_session(const http_origin& origin, int fd);

// Why the last call on `ssl` failed, for people: "certificate has expired".
[[nodiscard]] std::string tls_failure(const SSL* ssl);

} // namespace troupe::net
