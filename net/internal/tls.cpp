// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/tls.hpp>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstdint>

#include <sys/socket.h>

namespace troupe::net {

namespace {

int socket_of(BIO* bio) noexcept {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

// OpenSSL's own socket BIO writes with write(2), which raises SIGPIPE when the peer is gone.
int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  auto n = ::send(socket_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  auto n = ::recv(socket_of(bio), data, static_cast<std::size_t>(size), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    BIO_set_retry_read(bio);
  return static_cast<int>(n);
}

long bio_ctrl(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// Without authorities.
http_origin::tls_state::settings make_settings() {
  http_origin::tls_state::settings made;
  made.context.reset(SSL_CTX_new(TLS_client_method()));
  made.socket_method.reset(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket"));
  auto* context = made.context.get();
  auto* method = made.socket_method.get();
  if (context == nullptr || method == nullptr)
    return {};
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_ctrl);

  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  return made;
}

} // namespace

const http_origin::tls_state::settings& http_origin::tls_state::get() const {
  std::call_once(once, [this] {
    if (made.context != nullptr)
      return;
    made = make_settings();
    if (made.context != nullptr)
      SSL_CTX_set_default_verify_paths(made.context.get());
  });
  return made;
}

result<std::unique_ptr<const http_origin::tls_state>> make_tls_state(const std::string& ca_file) {
  auto state = std::make_unique<http_origin::tls_state>();
  if (!ca_file.empty()) {
    state->made = make_settings();
    auto* context = state->made.context.get();
    if (context == nullptr)
      return {errc::tls, "OpenSSL could not be set up."};
    if (SSL_CTX_load_verify_locations(context, ca_file.c_str(), nullptr) != 1) {
      ERR_clear_error();
      return {errc::bad_config, "The file of certificate authorities '" + ca_file +
                                    "' cannot be read, or holds no certificate in PEM form."};
    }
  }
  return {std::unique_ptr<const http_origin::tls_state>(std::move(state))};
}

std::unique_ptr<SSL, ssl_deleter> make_tls_session(const http_origin& origin, int fd) {
  const auto& settings = origin.tls_settings()->get();
  std::unique_ptr<SSL, ssl_deleter> ssl(settings.context ? SSL_new(settings.context.get()) : nullptr);
  BIO* bio = ssl ? BIO_new(settings.socket_method.get()) : nullptr;
  if (bio == nullptr)
    return nullptr;
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl.get(), bio, bio);
  SSL_set_connect_state(ssl.get());

  // An address is matched against the addresses in the certificate; a name is also what the server is asked
  // for.
  auto* rules = SSL_get0_param(ssl.get());
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, origin.host().c_str()) != 1) {
    ERR_clear_error();
    SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (SSL_set1_host(ssl.get(), origin.host().c_str()) != 1 ||
        SSL_set_tlsext_host_name(ssl.get(), origin.host().c_str()) != 1)
      return nullptr;
  }
  return ssl;
}

std::string tls_failure(const SSL* ssl) {
  auto verdict = SSL_get_verify_result(ssl);
  auto code = ERR_peek_error();
  const auto* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  std::string text;
  if (verdict != X509_V_OK)
    text = X509_verify_cert_error_string(verdict);
  else if (reason != nullptr)
    text = reason;
  else
    text = "the server closed the connection";
  ERR_clear_error();
  return text;
}

} // namespace troupe::net
