// What agents are doing, aggregated from their events: deltas on the way to the observer, and the tree that it keeps.
//
// A supervisor collects events into a delta; while the observer has not acknowledged the last one, deltas merge:
// counters add up exactly and only the newest state of an agent is kept. So memory is O(live agents), whatever the
// rate of events.
//
// Values, not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

enum class activity_state : std::uint8_t { thinking, working, waiting, completed, failed, cancelled };

[[nodiscard]] std::string_view to_string(activity_state s) noexcept;
[[nodiscard]] constexpr bool is_ended(activity_state s) noexcept {
  return s >= activity_state::completed;
}

// Sums over events.
struct activity_counts {
  std::array<std::uint64_t, 17> events{}; // by event_kind
  std::uint64_t turns = 0;                // model answers
  std::uint64_t started = 0;              // agents
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  troupe::usage usage;

  [[nodiscard]] std::uint64_t total_events() const noexcept;
  [[nodiscard]] std::uint64_t count(event_kind k) const noexcept {
    return events[static_cast<std::size_t>(k)];
  }
  activity_counts& operator+=(const activity_counts& other) noexcept;
  void add(const event& e) noexcept;
  friend bool operator==(const activity_counts&, const activity_counts&) = default;
};

// What changed for one agent.
struct agent_delta {
  event_origin_ptr origin;
  std::optional<agent_started_body> started;
  timestamp started_at{};
  std::optional<activity_state> state; // the newest, if an event told one
  std::string current;                 // one line: what it does, or how it ended
  timestamp changed_at{};
  activity_counts counts;
};

struct activity_delta {
  session_id session;
  std::vector<agent_delta> agents; // each agent once
  [[nodiscard]] bool empty() const noexcept { return agents.empty(); }
};

// Makes deltas out of events. One a supervisor.
class activity_collector {
 public:
  explicit activity_collector(session_id session) : session_(std::move(session)) {}

  void add(const event_batch& batch);
  // An agent that an earlier process started goes on here; nothing is counted.
  void restore(const event_origin_ptr& origin, agent_started_body started, activity_state state,
               timestamp now);
  // What was collected since the last call.
  [[nodiscard]] std::shared_ptr<const activity_delta> take();
  [[nodiscard]] bool empty() const noexcept { return pending_.empty(); }

 private:
  agent_delta& entry(const event_origin_ptr& origin);

  session_id session_;
  std::vector<agent_delta> pending_;
  std::unordered_map<agent_number, std::size_t> index_;
};

// One agent in the tree.
struct agent_activity {
  event_origin_ptr origin;
  std::string kind;
  std::string model;
  agent_number parent = 0;
  activity_state state = activity_state::thinking;
  std::string current;
  timestamp started_at{};
  timestamp changed_at{};
  activity_counts self;
  activity_counts collapsed;          // of children that are no longer kept
  std::uint64_t collapsed_agents = 0; // how many they are
};

struct session_activity {
  session_id session;
  activity_counts totals;
  std::vector<agent_activity> agents; // by number; the root first
};

struct activity_snapshot {
  activity_counts totals; // of everything since the start
  std::vector<session_activity> sessions;
};

struct activity_limits {
  std::size_t keep_ended = 1000;    // ended children kept in the tree, over all sessions
  std::size_t keep_sessions = 1000; // sessions whose root has ended
};

// The live tree of all sessions. Owned by the observer.
class activity_tree {
 public:
  explicit activity_tree(activity_limits limits = {}) : limits_(limits) {}

  void merge(const activity_delta& delta);

  // All sessions, or the one that is named (then `totals` are still those of everything).
  [[nodiscard]] activity_snapshot snapshot(const std::optional<session_id>& only) const;
  [[nodiscard]] const activity_counts& totals() const noexcept { return totals_; }

 private:
  struct session_entry {
    activity_counts totals;
    std::map<agent_number, agent_activity> agents;
    std::uint64_t ends = 0; // how often its root has ended
  };

  void end(session_entry& session, const session_id& id, agent_number number);
  void collapse();
  void forget_sessions();

  activity_limits limits_;
  activity_counts totals_;
  std::map<session_id, session_entry> sessions_;
  std::deque<std::pair<session_id, agent_number>> ended_;
  std::deque<std::pair<session_id, std::uint64_t>> ended_sessions_; // with `ends` at that time
};

} // namespace troupe
