// One call of a model over HTTP: turns what the connection gives into what the runtime is told. The same for
// all protocols; an answer_decoder reads the bodies.
//
// Everything happens on the connection's thread, but for is_over() and cancel().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/answer_decoder.hpp>
#include <troupe/net/internal/model_failure.hpp>
#include <troupe/net/sse_parser.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

struct exchange_setup {
  std::shared_ptr<const model_endpoint> endpoint;
  std::shared_ptr<model_sink> sink;
  std::unique_ptr<answer_decoder> decoder;
  bool stream = false; // chunks are wanted
  std::size_t max_event_bytes = sse_parser::default_max_event_bytes;
  std::uint32_t max_resumptions = 0; // of an answer that the service has paused
  // Sends the request again with `extra` after the conversation. Empty where no answer is ever paused.
  std::function<http_call(std::string extra, std::shared_ptr<http_handler> handler)> send_again{};
};

class model_exchange final : public http_handler,
                             public std::enable_shared_from_this<model_exchange>,
                             private sse_events {
 public:
  explicit model_exchange(exchange_setup setup);

  void on_head(int status, const http_headers& headers) override;
  void on_data(std::string_view bytes) override;
  void on_end() override;
  void on_error(const http_error& error) override;

  // Sends the first request and keeps its handle.
  template <class Send>
  void open(Send&& send) {
    std::lock_guard lock(mutex_);
    http_ = send();
  }
  // Ends the call. A request that still runs is closed, unless the sink has had its last call: then the rest of
  // the answer is read and dropped, so that the connection can serve again. Thread-safe.
  void cancel();

  // The sink has had its last call. Thread-safe.
  [[nodiscard]] bool is_over() const noexcept { return over_.load(std::memory_order_acquire); }

 private:
  enum class form : std::uint8_t { unknown, json, events };

  void on_event(std::string_view name, std::string_view data) override;
  void show();
  void end_whole();
  void end_stream();
  void succeed();
  void finish();
  void go_on();
  void fail(model_error error);
  void fail_body(std::string_view what);
  [[nodiscard]] model_error fault_failure(const service_fault& fault) const;

  exchange_setup setup_;
  const model_endpoint& endpoint_;
  bool shown_ = false;
  std::atomic<bool> over_{false};
  form form_ = form::unknown;
  int status_ = 0;
  bool says_json_ = false;
  std::optional<std::chrono::milliseconds> retry_after_;
  std::string body_;
  sse_parser parser_;
  std::optional<std::string> paused_; // what goes back to the service once this request has ended
  std::uint32_t resumptions_ = 0;

  std::mutex mutex_;
  bool cancelled_ = false; // under mutex_
  http_call http_;         // under mutex_
};

} // namespace troupe::net
