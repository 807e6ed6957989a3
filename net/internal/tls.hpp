// TLS on top of a non-blocking socket, straight on OpenSSL: its buffers are given back while a connection
// idles, where Asio's stream would hold 34 KiB a connection.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_message.hpp>

#include <openssl/ssl.h>

#include <memory>
#include <mutex>
#include <string>

namespace troupe::net {

struct ssl_deleter {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(BIO_METHOD* method) const noexcept { BIO_meth_free(method); }
};

// How connections to one origin are secured. Sessions are made from it on any thread.
struct http_origin::tls_state {
  struct settings {
    std::unique_ptr<BIO_METHOD, ssl_deleter> socket_method;
    std::unique_ptr<SSL_CTX, ssl_deleter> context; // null when OpenSSL could not be set up
  };

  // Reading the system's authorities takes tens of milliseconds, so they are read for the first session.
  const settings& get() const;

  mutable std::once_flag once;
  mutable settings made;
};

// Trusts the system's authorities, or only those of the PEM file `ca_file` when it is given. Fails with bad_config when
// the file cannot be used.
[[nodiscard]] result<std::unique_ptr<const http_origin::tls_state>>
make_tls_state(const std::string& ca_file);

// A client session on the socket `fd`, which stays the caller's, that accepts only a certificate for the
// origin's host. Null when OpenSSL cannot be set up or is out of memory. The origin outlives the session.
[[nodiscard]] std::unique_ptr<SSL, ssl_deleter> make_tls_session(const http_origin& origin, int fd);

// Why the last call on `ssl` failed, for people: "certificate has expired".
[[nodiscard]] std::string tls_failure(const SSL* ssl);

} // namespace troupe::net
