// What an HTTP request and its answer are made of.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/error.hpp>
#include <troupe/messages/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

// Which addresses a request may reach. public_only refuses loopback, private, link-local and reserved ones, the
// metadata services of clouds among them, after the name was resolved: for URLs that come from models, web pages and
// peers. Through a proxy only an address in the URL itself can be judged.
enum class address_reach : std::uint8_t { any, public_only };

// Where requests go: scheme, host, port and how its certificate is checked. Immutable, thread-safe; made
// once, and shared by all requests. Connections are reused between requests whose origins are equal in all of
// this.
class http_origin {
 public:
  // `url` is an absolute http or https URL. It must not carry user information: a password in a URL ends up
  // in logs. With https the certificate is checked against the host's name and the system's authorities or,
  // if `ca_file` is given, against the PEM file `ca_file` alone. Fails with bad_config.
  [[nodiscard]] static result<std::shared_ptr<const http_origin>>
  parse(std::string_view url, const std::string& ca_file = {}, address_reach reach = address_reach::any);
  // Likewise, with the authorities of `like`, an https origin: reading those takes milliseconds.
  [[nodiscard]] static result<std::shared_ptr<const http_origin>>
  parse(std::string_view url, const http_origin& like, address_reach reach = address_reach::any);
  ~http_origin();

  [[nodiscard]] const std::string& host() const noexcept { return host_; } // without the brackets of IPv6
  [[nodiscard]] const std::string& authority() const noexcept { return authority_; } // as in the Host header
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] address_reach reach() const noexcept { return reach_; }
  [[nodiscard]] bool tls() const noexcept { return tls_ != nullptr; }
  // The path of the URL without a final slash, percent-encoded: "/v1", or empty.
  [[nodiscard]] const std::string& base_path() const noexcept { return base_path_; }
  // For messages: "https://host:port".
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  // Equal for origins that may share connections.
  [[nodiscard]] const std::string& pool_key() const noexcept { return pool_key_; }

  // For the client only.
  struct tls_state;
  [[nodiscard]] const tls_state* tls_settings() const noexcept { return tls_.get(); }

 private:
  http_origin();
  [[nodiscard]] static result<std::shared_ptr<http_origin>> parse_url(std::string_view url, bool& secure);
  void set_reach(address_reach reach);

  std::string host_;
  std::string authority_;
  std::uint16_t port_ = 0;
  address_reach reach_ = address_reach::any;
  std::string base_path_;
  std::string text_;
  std::string pool_key_;
  std::string ca_file_;
  std::shared_ptr<const tls_state> tls_;
};

// The header lines of an answer, in their order. Views are valid as long as the object is unchanged.
class http_headers {
 public:
  void add(std::string_view name, std::string_view value);
  void clear() noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }
  [[nodiscard]] std::pair<std::string_view, std::string_view> operator[](std::size_t i) const noexcept;
  // The value of the first line with this name, in any case; empty when there is none.
  [[nodiscard]] std::string_view find(std::string_view name) const noexcept;

 private:
  struct field {
    std::uint32_t name;
    std::uint32_t value;
    std::uint32_t end;
  };
  std::string text_;
  std::vector<field> fields_;
};

// Header lines in the form of the wire, "Name: value\r\n" each, checked once and shared by many requests.
// Fails with bad_config when a name is no token or a value holds control characters, so nothing can be
// smuggled in. The values are not shown in the error: they may be secret.
[[nodiscard]] result<std::shared_ptr<const std::string>>
make_header_lines(const std::vector<std::pair<std::string, std::string>>& fields);

// A piece of a request's body: the bytes of `text` from `skip` on. Pieces are shared with whoever keeps them
// and are written from where they lie. `skip` serves lists whose pieces begin with a separator.
struct body_piece {
  body_piece(std::shared_ptr<const std::string> t, std::size_t s = 0) : text(std::move(t)), skip(s) {}
  [[nodiscard]] std::string_view view() const noexcept { return std::string_view(*text).substr(skip); }

  std::shared_ptr<const std::string> text; // never null
  std::size_t skip = 0;                    // at most text->size()
};

struct http_timeouts {
  std::chrono::milliseconds connect{10'000}; // name, connection and TLS handshake together
  std::chrono::milliseconds first_byte{
      300'000};                           // from the end of the request to the end of the answer's head
  std::chrono::milliseconds idle{60'000}; // between two reads of the answer, or two writes of the request
  std::optional<std::chrono::milliseconds> total; // the whole request, waiting for a connection included
};

struct http_request {
  std::shared_ptr<const http_origin> origin; // never null
  std::string_view method = "POST";          // a literal
  std::string target = "/";                  // path and query, percent-encoded
  std::shared_ptr<const std::string>
      header_lines; // of make_header_lines, or null; Host and Content-Length are added
  std::vector<body_piece> body;
  http_timeouts timeouts;
  bool compressed = true; // the answer may come as gzip; it is given inflated in any case
};

enum class http_error_kind : std::uint8_t {
  resolve,         // the host's name has no address
  refused_address, // none of the host's addresses is public, and the request may reach no other
  connect,         // refused, unreachable, out of descriptors
  connect_timeout, // no connection in time
  proxy,           // the proxy is out of order, or has no way to the host
  proxy_refused,   // the proxy wants other credentials, or does not let us through
  tls,             // no handshake, or the certificate is not accepted
  dropped,         // the connection ended before the answer did
  first_byte_timeout,
  idle_timeout,
  total_timeout,
  header_too_large,
  body_too_large,
  bad_response, // not HTTP, or compressed in a way that cannot be read
  busy,         // too many requests wait for a connection
  not_recorded, // there is no recording of the request
};

[[nodiscard]] errc to_errc(http_error_kind kind) noexcept;

// `message` says what happened and to which origin; it never carries headers or bodies.
struct http_error {
  http_error_kind kind;
  std::string message;
};

} // namespace troupe::net
