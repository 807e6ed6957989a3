// What one stream asks for, and what it says: rounds of questions to the engine, and messages made of the answers.
//
// A round begins only when the last one's messages were taken, so nothing queues for a reader that is slow: it gets less
// often what has changed since. Pure: no clock, no thread; the caller asks, waits and writes. What is kept: the answers of
// one round.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/partial_buffer.hpp>
#include <troupe/net/server/internal/stream_follow.hpp>
#include <troupe/net/server/internal/web_site.hpp>
#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/activity_json.hpp>
#include <troupe/runtime/ports/session_store.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe::net {

struct event_stream_options {
  std::string boot; // of this process: cursors of another one count for nothing
  std::size_t rows = 2048;
  std::size_t events = 512;
  std::size_t bytes = std::size_t{1} << 20;
  std::chrono::milliseconds vitals_interval{1'000};
  std::chrono::milliseconds page_interval{1'000}; // the store is asked so often at least
};

class event_stream {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  struct page_query {
    session_id session;
    std::uint64_t after = 0;
    std::size_t limit = 0;
  };
  // What to ask for now.
  struct round {
    activity_query changes;
    std::optional<event_query> recent;
    std::optional<page_query> page; // of the store
    bool partials = false;
    bool vitals = false;
  };

  event_stream(event_stream_options options, stream_follow first);

  // Between two rounds.
  void follow(stream_follow next);
  [[nodiscard]] const stream_follow& followed() const noexcept { return follow_; }
  [[nodiscard]] round begin(time_point now);

  void take(const activity_changes& changes, timestamp at);
  void take(const recent_events& events);
  void take(const result<event_page>& page);
  void take(std::vector<shown_piece> pieces) { pieces_ = std::move(pieces); }
  void take(const activity_vitals& vitals, const std::map<std::string, model_listing>& models, timestamp at);
  // Tells the client what went wrong; the last word counts.
  void complain(const error& what) { complaint_ = what; }

  // The next message of the round, or nothing when all are taken.
  [[nodiscard]] std::optional<stream_message> next();
  // There is more of what was asked for: the next round need not wait.
  [[nodiscard]] bool hungry() const noexcept { return hungry_; }

 private:
  [[nodiscard]] activity_cursor version_of(const std::string& cursor) const;
  void begin_events(const std::string& cursor);
  [[nodiscard]] std::string cursor() const;
  [[nodiscard]] bool wants_page(time_point now) const;
  [[nodiscard]] std::string events_message();
  [[nodiscard]] std::string pieces_message();
  void keep(const event_batch_ptr& batch, const event& e);

  const event_stream_options options_;
  stream_follow follow_;
  activity_query query_; // of the round
  activity_cursor version_;
  std::uint64_t position_ = 0;        // in the ring of all sessions
  std::optional<std::uint64_t> seq_;  // the last event of the session that was read; absent: not known yet
  std::uint64_t known_seq_ = 0;       // the session's row says so
  std::optional<std::uint64_t> sent_; // seq_ or position_ when the round began: all up to it was sent
  bool from_cursor_ = false;          // seq_ is what a cursor said; the log may be another one
  bool probing_ = false;              // the page asks where the session stands
  bool has_hole_ = false;             // the store cannot give what follows
  time_point page_at_{};
  time_point vitals_at_{};
  bool began_ = false;
  bool hungry_ = false;

  std::optional<error> complaint_;
  std::optional<stream_message> changes_;
  std::deque<event_ptr> events_;
  std::uint64_t missed_ = 0;
  std::vector<shown_piece> pieces_;
  std::string vitals_;
};

} // namespace troupe::net
