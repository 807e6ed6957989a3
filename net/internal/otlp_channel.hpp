// Posts the bodies of one OTLP signal, one at a time, and tries again where that is of use.
//
// Tried again, with Retry-After or a delay that doubles and is spread: answers 429, 502, 503 and 504, and requests that
// had no answer; at most max_tries times. Never: any other answer, and a partial success (opentelemetry-proto,
// docs/specification.md).
//
// Thread-safe. `done` is called once for each post that was not cancelled, on a thread of the client or the timer, without
// a lock held. The timer outlives the channel.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>

namespace troupe::net {

struct otlp_channel_options {
  std::shared_ptr<const http_origin> origin;
  std::string path;
  std::shared_ptr<const std::string> header_lines;
  std::chrono::milliseconds timeout{10'000}; // of one try
  std::uint32_t max_tries = 5;
  std::chrono::milliseconds first_delay{1'000}; // before the second try
  std::chrono::milliseconds max_delay{60'000};  // whatever the service asks for
};

// What became of a post.
struct otlp_outcome {
  std::uint64_t rejected = 0; // of its items
  std::string fault;          // one sentence; empty: all was taken
};

class otlp_channel : public std::enable_shared_from_this<otlp_channel> {
 public:
  otlp_channel(std::shared_ptr<http_client> client, timer& clock, otlp_channel_options options,
               std::function<void(const otlp_outcome&)> done);

  // Not while one is under way.
  void post(std::string body, std::uint64_t items);
  void cancel();

  // For the handler of an answer. Empty: the try had no answer.
  struct answer {
    int status = 0;
    std::string retry_after;
    std::string body; // its beginning
    std::string error;
  };
  void take(const answer& got);

 private:
  void start();
  [[nodiscard]] std::chrono::milliseconds delay_after(const answer& got);

  const std::shared_ptr<http_client> client_;
  timer& clock_;
  const otlp_channel_options options_;
  const std::function<void(const otlp_outcome&)> done_;

  std::mutex mutex_; // guards what follows
  std::shared_ptr<const std::string> body_;
  std::uint64_t items_ = 0;
  std::uint32_t tries_ = 0;
  http_call call_;
  std::unique_ptr<timer_handle> retry_;
  std::minstd_rand random_{std::random_device{}()};
};

} // namespace troupe::net
