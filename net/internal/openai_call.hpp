// One call of a model over HTTP: turns what the connection gives into what the runtime is told.
//
// Everything happens on the connection's thread, but for is_over().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/model_failure.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/net/sse_parser.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

class openai_call final : public http_handler, private sse_events {
 public:
  // `stream` tells whether chunks are wanted.
  openai_call(std::shared_ptr<const model_endpoint> endpoint, std::shared_ptr<model_sink> sink, bool stream,
              std::size_t max_event_bytes);

  void on_head(int status, const http_headers& headers) override;
  void on_data(std::string_view bytes) override;
  void on_end() override;
  void on_error(const http_error& error) override;

  // The sink has had its last call. Thread-safe.
  [[nodiscard]] bool is_over() const noexcept { return over_.load(std::memory_order_acquire); }

 private:
  enum class form : std::uint8_t { unknown, json, events };

  void on_event(std::string_view name, std::string_view data) override;
  void show();
  void end_whole();
  void end_stream();
  void succeed();
  void fail(model_error error);
  void fail_body(std::string_view what);
  [[nodiscard]] model_error service_error(const openai_error& error) const;

  std::shared_ptr<const model_endpoint> endpoint_;
  std::shared_ptr<model_sink> sink_;
  bool stream_;
  bool shown_ = false;
  std::atomic<bool> over_{false};
  form form_ = form::unknown;
  int status_ = 0;
  bool says_json_ = false;
  std::optional<std::chrono::milliseconds> retry_after_;
  std::string body_;
  sse_parser parser_;
  openai_answer answer_;
  std::size_t text_shown_ = 0;
  std::size_t thought_shown_ = 0;
};

} // namespace troupe::net
