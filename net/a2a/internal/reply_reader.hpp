// Reads one HTTP answer of a peer: events of a stream one by one, or a body as a whole.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/a2a/internal/failure.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/net/sse_parser.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net::a2a {

// How an answer came to its end.
struct reply_end {
  int status = 0;
  bool is_stream = false; // events were told; `body` is empty
  std::string body{};
  std::string wants{}; // WWW-Authenticate
  std::optional<http_error> failed{};

  [[nodiscard]] bool is_success() const noexcept { return status >= 200 && status < 300; }
};

// Called on the thread of the connection, one at a time.
class reply_taker {
 public:
  virtual ~reply_taker() = default;
  // False when nothing more is wanted.
  virtual bool on_event(std::string_view data) = 0;
  virtual void on_reply(reply_end end) = 0;
};

class reply_reader final : public http_handler, private sse_events {
 public:
  reply_reader(std::shared_ptr<reply_taker> taker, std::size_t max_body, std::size_t max_event)
      : taker_(std::move(taker)), max_body_(max_body), parser_(max_event) {}

  void on_head(int status, const http_headers& headers) override;
  void on_data(std::string_view bytes) override;
  void on_end() override;
  void on_error(const http_error& error) override;

 private:
  void on_event(std::string_view name, std::string_view data) override;
  void finish(std::optional<http_error> failed);

  std::shared_ptr<reply_taker> taker_; // null when it wants nothing more
  const std::size_t max_body_;
  sse_parser parser_;
  reply_end end_;
};

// For a plain answer: calls `done` with it once.
[[nodiscard]] std::shared_ptr<http_handler> whole_reply(std::size_t max_body,
                                                        std::function<void(reply_end)> done);

} // namespace troupe::net::a2a
