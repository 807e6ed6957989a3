// What agents are doing, as people and programs follow it: rows of agents and sessions, counters, and what is asked and
// told about them. activity_collector.hpp makes them out of events, activity_tree.hpp keeps them.
//
// Values. Agents are told apart by session and number, calls by their id; names are only shown.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/activity_item.hpp>
#include <troupe/messages/event.hpp>
#include <troupe/runtime/latency_histogram.hpp>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class activity_state : std::uint8_t { thinking, working, waiting, completed, failed, cancelled };

inline constexpr std::size_t activity_states = 6;

[[nodiscard]] std::string_view to_string(activity_state s) noexcept;
[[nodiscard]] constexpr bool is_ended(activity_state s) noexcept {
  return s >= activity_state::completed;
}

// Sums over the events of one agent, or of those that are no longer kept.
struct agent_counts {
  std::uint64_t turns = 0; // model answers
  std::uint64_t tool_calls = 0;
  std::uint64_t failed_calls = 0; // results that are errors
  troupe::usage usage;

  agent_counts& operator+=(const agent_counts& other) noexcept;
  friend bool operator==(const agent_counts&, const agent_counts&) = default;
};

// Sums over events.
struct activity_counts {
  std::array<std::uint64_t, 17> events{}; // by event_kind
  std::uint64_t turns = 0;                // model answers, as the ends of agents tell
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

// A question that waits for an answer.
struct open_question_row {
  call_id question;
  agent_number agent = 0;
  std::string name; // of the agent
  question_body body;
  timestamp asked_at{};
};

// One agent in the tree.
struct agent_facts {
  event_origin_ptr origin;
  std::string kind;
  std::string model;
  agent_number parent = 0;
  bool background = false;
  activity_state state = activity_state::thinking;
  std::string current; // one line: what it does, or how it ended
  std::string
      waiting_for;   // what it cannot go on without: its model, a call, an answer; empty once it has ended
  bool held = false; // that is neither its model's work nor a call's: a place, another try, an answer
  timestamp started_at{};
  timestamp changed_at{};
  agent_counts self;
  agent_counts collapsed; // of children that are no longer kept
  std::uint64_t collapsed_agents = 0;
};

// As it is shown.
struct agent_row : agent_facts {
  agent_counts subtree;             // of it and all below it; where the row was asked for
  std::uint64_t subtree_agents = 0; // below it; likewise
  std::vector<activity_item> items; // where they were asked for; the oldest first
};

// Where a session stands.
enum class session_group : std::uint8_t { needs_input, running, queued, failed, done };
[[nodiscard]] std::string_view to_string(session_group g) noexcept;

// One session in the tree.
struct session_row {
  session_id session;
  std::string root;   // its root agent's name; empty before it has started
  run_id run;         // the newest
  std::string prompt; // what the newest run was asked, cut
  std::string model;
  std::string current;
  session_group group = session_group::queued;
  activity_state state = activity_state::thinking; // of the root
  timestamp started_at{};                          // of the newest run
  timestamp changed_at{};
  std::uint64_t last_seq = 0;
  std::uint32_t queued_runs = 0;
  std::array<std::uint64_t, activity_states> agents{}; // how many are in each state
  agent_counts sum;                                    // over all its agents
  activity_counts totals;
  std::vector<open_question_row> questions;
};

struct session_activity {
  session_row row;
  std::vector<agent_row> agents; // by number; the root first
};

struct activity_snapshot {
  activity_counts totals; // of everything since the start
  std::vector<session_activity> sessions;
};

// -- to follow the tree ---------------------------------------------------------------------------------------------------

// How far a follower has come: the version of the last row that it got, and of the last removal that it knows of. A
// snapshot that comes in several answers gives rows that are older than removals which do not concern it.
struct activity_cursor {
  std::uint64_t rows = 0;
  std::uint64_t removals = 0;

  friend bool operator==(const activity_cursor&, const activity_cursor&) = default;
};

// "rows.removals", and back.
[[nodiscard]] std::string to_text(const activity_cursor& cursor);
[[nodiscard]] std::optional<activity_cursor> cursor_from_text(std::string_view text) noexcept;

// What a follower knows already, and what it wants to know of.
struct activity_query {
  std::optional<session_id> session{}; // whose agents; otherwise only the rows of sessions
  std::optional<agent_number> agent{}; // whose items
  activity_cursor since{};             // activity_changes::version of the last answer; zero: everything
  std::size_t max_rows = 4096;         // of agents; the rest comes with the next question
};

// The rows that have changed. What was removed goes first; then a row stands for the one of its key. `complete` replaces
// everything that was known.
struct activity_changes {
  bool complete = false;
  bool more = false; // max_rows was reached: ask again at once
  activity_cursor version;
  activity_counts totals;
  agent_counts sum; // over all agents since the start
  std::vector<session_row> sessions;
  std::vector<agent_row> agents;
  std::vector<session_id> removed_sessions;
  std::vector<agent_number> removed_agents; // of the session that was asked for

  [[nodiscard]] bool empty() const noexcept {
    return !complete && sessions.empty() && agents.empty() && removed_sessions.empty() &&
           removed_agents.empty();
  }
};

using event_ptr = std::shared_ptr<const event>;
using event_kinds = std::bitset<17>; // by event_kind

struct event_query {
  std::uint64_t after = 0; // recent_events::position of the last answer; 0: from now on
  std::optional<session_id> session{};
  std::optional<agent_number> agent{}; // of that session
  event_kinds kinds = event_kinds{}.set();
  std::size_t max_events = 512;
};

// Events of all sessions, in the order in which they came, those of one session in order of their seq.
struct recent_events {
  std::uint64_t position = 0;
  std::uint64_t missed = 0; // that came and were not kept so long, of any session and kind
  bool more = false;        // max_events was reached: ask again at once
  std::vector<event_ptr> events;
};

// How calls of a tool went.
struct tool_activity {
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;
  latency_histogram time; // of calls that ran

  tool_activity& operator+=(const tool_activity& other) noexcept;
  friend bool operator==(const tool_activity&, const tool_activity&) = default;
};

// Samples of how long messages waited for their actor and how long it took over them; by kind of actor.
struct actor_timing {
  latency_histogram mailbox_wait;
  latency_histogram handler_time;
};

// How the whole is doing.
struct activity_vitals {
  activity_counts totals;
  agent_counts sum;
  std::array<std::uint64_t, activity_states> agents{}; // that are kept, by state
  std::uint64_t sessions = 0;
  std::map<std::string, tool_activity> tools; // those beyond activity_limits::max_tools under ""
  latency_histogram agent_time;               // from start to end
  std::map<std::string, actor_timing> actors;
  std::uint64_t events_dropped = 0; // that recent_events could not keep for those who follow them
};

// Rows keep texts longer than they are shown: what is cut before it is masked may show the beginning of a secret.
struct shown_lengths {
  static constexpr std::size_t current = 120;
  static constexpr std::size_t prompt = 300;
  static constexpr std::size_t content = 400; // of an item
  static constexpr std::size_t args = 1000;   // likewise
  static constexpr std::size_t beyond = 512;  // kept behind each of them
};

// -- bounds ---------------------------------------------------------------------------------------------------------------

struct activity_limits {
  std::size_t keep_ended = 1000;               // ended children kept in the tree, over all sessions
  std::size_t keep_sessions = 1000;            // sessions where nothing goes on
  std::size_t keep_removed = 8192;             // rows whose removal a follower can still be told of
  std::size_t max_tools = 256;                 // names of tools that are counted apart
  std::size_t recent_events = 65'536;          // events of all sessions kept for followers
  std::size_t recent_bytes = 64 * 1024 * 1024; // likewise, about
};

} // namespace troupe
