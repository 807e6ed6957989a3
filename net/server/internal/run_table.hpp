// The runs that the server has taken: those that go on, and the last ones that ended.
//
// Bounds: max_live runs that go on, keep_ended that have ended, keep_bytes of what those answered; the oldest go first.
//
// Thread-safe. Callbacks are called without a lock, once, on the thread that made it happen (an actor's, as a rule): they
// are short and never block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/run_feed.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe::net {

// A run as it is now.
struct run_view {
  std::string id;
  run_id run; // empty until it has begun
  session_id session;
  std::string agent;
  std::string prompt;
  timestamp started_at{};
  timestamp ended_at{}; // zero while it goes on
  std::optional<outcome> ended{};
  bool woken = false;
};

struct run_table_limits {
  std::size_t max_live = 10'000;
  std::size_t keep_ended = 1000;
  std::size_t keep_bytes = std::size_t{16} << 20;
};

class run_table : public std::enable_shared_from_this<run_table> {
 public:
  explicit run_table(run_table_limits limits) : limits_(limits) {}

  struct new_run {
    session_id session;
    std::string agent;
    std::string prompt;
    std::shared_ptr<run_feed> feed;
    bool woken = false;
    // Called, like the feed's own callback, whenever there is something new; empty: nobody reads the feed.
    std::function<void(run_feed&)> follow{};
  };
  // Takes a run up and gives its id. Fails with busy when there are max_live; runs that background work has set in motion
  // are taken up all the same, since they go on anyway.
  [[nodiscard]] result<std::string> add(new_run run);

  // By the id that was given here or by the log's.
  [[nodiscard]] std::optional<run_view> find(std::string_view id) const;
  [[nodiscard]] std::vector<run_view> all() const; // the newest first

  // Calls `done` once the run has begun or ended, or has ended; at once when that is so, or when there is no such run.
  void when_begun(const std::string& id, std::function<void()> done);
  void when_ended(const std::string& id, std::function<void()> done);

  // Ends a run that has not begun; false when it has, or when there is no such run. The engine drops it when its turn
  // comes.
  bool end_unbegun(std::string_view id, outcome how);

  // Forgets a run that was refused: its answer has said so.
  void drop(const std::string& id);

  // Drops what waits, without calling it.
  void drop_waiting();

  [[nodiscard]] std::size_t live() const;
  // Waits until no run goes on; false when that takes longer.
  [[nodiscard]] bool wait_quiet(std::chrono::milliseconds limit);

 private:
  struct entry {
    new_run run;
    timestamp started_at{};
    timestamp ended_at{};
    bool begun = false;
    bool ended = false;
    std::size_t bytes = 0;
    std::uint64_t turn = 0; // the newer the higher
    std::vector<std::function<void()>> on_begin;
    std::vector<std::function<void()>> on_end;
  };
  using calls = std::vector<std::function<void()>>;

  [[nodiscard]] static run_view view_of(const std::string& id, const entry& e);
  void changed(const std::string& id, bool has_ended);
  [[nodiscard]] calls end(const std::string& id, entry& e);
  void forget();

  const run_table_limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable quiet_;
  std::unordered_map<std::string, entry> runs_;
  std::deque<std::string> ended_; // the oldest first
  std::size_t ended_bytes_ = 0;
  std::size_t live_ = 0;
  std::uint64_t turn_ = 0;
};

} // namespace troupe::net
