// Reads one HTTP/1.1 answer, in pieces as they come, without keeping any of it but the headers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>

#include <boost/beast/http/basic_parser.hpp>

#include <string_view>

namespace troupe::net {

class response_events {
 public:
  virtual void on_response_head(int status, const http_headers& headers) = 0;
  virtual void on_response_data(std::string_view bytes) = 0;

 protected:
  ~response_events() = default;
};

// Trailers are read and dropped. The limits come from the owner by header_limit() and body_limit().
class response_parser final : public boost::beast::http::basic_parser<false> {
 public:
  // Both outlive the parser; `headers` is filled anew.
  response_parser(response_events& events, http_headers& headers) : events_(events), headers_(headers) {
    headers_.clear();
    eager(true);
  }
  [[nodiscard]] int status() const noexcept { return status_; }
  // A provisional answer (RFC 9110, 15.2): another one follows.
  [[nodiscard]] bool is_provisional() const noexcept {
    return status_ >= 100 && status_ < 200 && status_ != 101;
  }

 private:
  using string_view = boost::beast::string_view;
  using error_code = boost::beast::error_code;
  using field = boost::beast::http::field;
  using verb = boost::beast::http::verb;
  using chunk_extensions = boost::beast::string_view;

  void on_request_impl(verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code&) override { status_ = code; }
  void on_field_impl(field, string_view name, string_view value, error_code&) override {
    if (!head_done_)
      headers_.add({name.data(), name.size()}, {value.data(), value.size()});
  }
  void on_header_impl(error_code&) override {
    head_done_ = true;
    if (!is_provisional())
      events_.on_response_head(status_, headers_);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view bytes, error_code&) override { return pass(bytes); }
  void on_chunk_header_impl(std::uint64_t, chunk_extensions, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code&) override {
    return pass(bytes);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t pass(string_view bytes) {
    if (!bytes.empty())
      events_.on_response_data({bytes.data(), bytes.size()});
    return bytes.size();
  }

  response_events& events_;
  http_headers& headers_;
  int status_ = 0;
  bool head_done_ = false;
};

} // namespace troupe::net
