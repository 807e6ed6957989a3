// The live tree of all sessions and their agents, and what has changed in it since a follower last asked.
//
// Each change of a row gives it the next version, and rows are kept in the order of their versions; so what has changed
// since a version is found in as many steps as there are changed rows, and nothing is queued for anybody. Memory is
// O(live agents) and the bounds of activity_limits: children that have ended collapse into their parent.
//
// Not thread-safe; owned by the observer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/activity_collector.hpp>

#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace troupe {

class activity_tree {
 public:
  explicit activity_tree(activity_limits limits = {}) : limits_(limits) {}

  // Takes what it can use out of the delta.
  void merge(activity_delta&& delta);

  // All sessions, or the one that is named (then `totals` are still those of everything).
  [[nodiscard]] activity_snapshot snapshot(const std::optional<session_id>& only) const;

  [[nodiscard]] activity_changes changes(const activity_query& query) const;

  // Without the times of actors and the events that were dropped, which the tree does not see.
  [[nodiscard]] activity_vitals vitals() const;

  [[nodiscard]] const activity_counts& totals() const noexcept { return totals_; }

 private:
  struct agent_entry {
    std::uint64_t version = 0;
    agent_facts row;
    recent_items items;
  };
  using agent_list = std::list<agent_entry>; // the least version first

  struct session_entry {
    std::uint64_t version = 0;
    session_row row;
    bool rests = false; // no agent of it lives and no run waits: it may be forgotten
    agent_list agents;
    std::unordered_map<agent_number, agent_list::iterator> by_number;
  };
  using session_list = std::list<session_entry>; // likewise

  struct removal {
    std::uint64_t version;
    session_id session;
    std::optional<agent_number> agent; // otherwise the whole session
  };

  session_entry& find_or_add(const session_id& id);
  void merge_agent(session_entry& session, agent_delta& delta);
  static void merge_questions(session_entry& session, agent_number number, agent_delta& delta);
  void note_waits(session_entry& session, agent_entry& agent, agent_delta& delta);
  void note_root(session_entry& session, const agent_facts& root);
  void close(session_entry& session, const std::string& why);
  void note_end(const session_entry& session, const agent_facts& child);
  // The next version for a row. A session that rests goes to those that may be forgotten.
  void touch(session_entry& session);
  void touch(session_entry& session, agent_list::iterator agent);
  void set_state(session_entry& session, agent_facts& row, activity_state state);
  void collapse();
  void forget_sessions();
  void forget(session_list::iterator session);
  void note_removal(const session_id& session, std::optional<agent_number> agent);
  static session_group group_of(const session_entry& session);
  // The row with the sums of its subtree. Only roots have children.
  static agent_row shown(const session_entry& session, const agent_entry& agent, bool with_items);

  activity_limits limits_;
  activity_counts totals_;
  agent_counts sum_;
  std::map<std::string, tool_activity> tools_;
  latency_histogram agent_time_;
  std::array<std::uint64_t, activity_states> states_{};
  session_list busy_;    // sessions where something goes on
  session_list resting_; // the others; the first is forgotten when they are too many
  std::unordered_map<session_id, session_list::iterator> by_id_; // into both
  std::deque<std::pair<session_id, agent_number>> ended_;
  std::deque<removal> removed_; // the least version first
  std::uint64_t forgotten_ = 0; // the version up to which removals are no longer known
  std::uint64_t version_ = 1;
};

} // namespace troupe
