// What came of a call, for tests: handlers that keep all they are told and wake whoever waits.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::test {

// Locks around a value, and waits for it.
template <class T>
class watched {
 public:
  template <class Change>
  void change(Change&& f) {
    std::lock_guard lock(mutex_);
    f(value_);
    changed_.notify_all();
  }
  // The value once `ready` holds, or as it is after 20 seconds.
  template <class Ready>
  [[nodiscard]] T wait(Ready&& ready) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return ready(value_); });
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  T value_;
};

struct http_record {
  int heads = 0;
  int status = 0;
  std::string type;
  std::string body;
  int ends = 0;
  std::optional<net::http_error> error;
  [[nodiscard]] bool over() const { return ends > 0 || error.has_value(); }
};

class recording_handler final : public net::http_handler {
 public:
  void on_head(int status, const net::http_headers& headers) override {
    record.change([&](http_record& r) {
      ++r.heads;
      r.status = status;
      r.type = headers.find("CONTENT-type");
    });
  }
  void on_data(std::string_view bytes) override {
    record.change([&](http_record& r) { r.body.append(bytes); });
  }
  void on_end() override {
    record.change([](http_record& r) { ++r.ends; });
  }
  void on_error(const net::http_error& error) override {
    record.change([&](http_record& r) { r.error = error; });
  }
  [[nodiscard]] http_record wait() const {
    return record.wait([](const http_record& r) { return r.over(); });
  }

  watched<http_record> record;
};

struct model_record {
  std::string text;
  std::string thought;
  std::optional<model_response> response;
  std::optional<model_error> error;
  [[nodiscard]] bool over() const { return response.has_value() || error.has_value(); }
};

class recording_sink final : public model_sink {
 public:
  void on_chunk(model_chunk chunk) override {
    record.change([&](model_record& r) { (chunk.thought ? r.thought : r.text).append(chunk.text); });
  }
  void on_done(model_response response) override {
    record.change([&](model_record& r) { r.response = std::move(response); });
  }
  void on_failed(model_error error) override {
    record.change([&](model_record& r) { r.error = std::move(error); });
  }
  [[nodiscard]] model_record wait() const {
    return record.wait([](const model_record& r) { return r.over(); });
  }

  watched<model_record> record;
};

} // namespace troupe::test
