// Drives one event_stream: asks the engine and the store, gives the messages to the connection, waits.
//
// Everything happens on the thread of the gate; answers from other threads are posted there. Answers of an engine that
// takes long are waited for, so there is one round of questions under way at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/deadline.hpp>
#include <troupe/net/server/internal/event_stream.hpp>
#include <troupe/net/server/internal/io_gate.hpp>
#include <troupe/net/server/internal/web_site.hpp>
#include <troupe/runtime/ports/engine.hpp>
#include <troupe/runtime/server_limits.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace troupe::net {

// What streams ask. Outlives them.
struct stream_sources {
  engine& to;
  worker_threads& readers; // for a store that blocks
  std::function<std::map<std::string, model_listing>()> models;
  std::string boot;
  server_limits limits;
};

class stream_pump final : public stream_feed, public std::enable_shared_from_this<stream_pump> {
 public:
  stream_pump(std::shared_ptr<const stream_sources> sources, boost::asio::io_context& context,
              std::shared_ptr<io_gate> gate, stream_follow first);

  void start(stream_sink& sink) override;
  void written() override;
  void receive(std::string_view text) override;
  void stop() override;

 private:
  using clock = std::chrono::steady_clock;

  void begin_round();
  void ask(const event_stream::round& r);
  void read_page(const event_stream::page_query& query);
  void answered();
  void say_next();
  void watch_partials();
  // Wraps what takes an answer: posted to the stream's thread, and dropped when it has stopped.
  template <class Answer>
  auto taking(void (stream_pump::*take)(const Answer&));
  void take_changes(const std::shared_ptr<const activity_changes>& changes);
  void take_recent(const std::shared_ptr<const recent_events>& events);
  void take_vitals(const std::shared_ptr<const activity_vitals>& vitals);
  void take_page(const result<event_page>& page);

  std::shared_ptr<const stream_sources> sources_;
  std::shared_ptr<io_gate> gate_;
  event_stream stream_;
  deadline pause_;
  stream_sink* sink_ = nullptr; // null before the start and after the end
  std::optional<stream_follow> next_follow_;
  std::shared_ptr<partial_buffer> pieces_;
  std::shared_ptr<void> watch_;
  clock::time_point round_at_{};
  std::size_t open_questions_ = 0;
  bool engine_ended_ = false;
};

} // namespace troupe::net
