// Makes deltas of activity out of events, on their way from a supervisor to the observer.
//
// While the observer has not taken the last one, events merge into the next: counters add up exactly, and only the
// newest state of an agent is kept. So memory is O(live agents), whatever the rate of events.
//
// Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/recent_items.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe {

// What changed for one agent.
struct agent_delta {
  event_origin_ptr origin;
  std::optional<agent_started_body> started;
  timestamp started_at{};
  timestamp changed_at{};
  std::optional<activity_state> state;    // the newest, if an event told one
  std::string current;                    // one line: what it does, or how it ended
  std::optional<std::string> waiting_for; // the newest
  agent_counts counts;
  recent_items items;
  bool restored = false; // what was known of its calls and questions counts no more
  std::vector<open_question_row> asked;
  std::vector<call_id> closed; // questions
};

struct activity_delta {
  session_id session;
  std::vector<agent_delta> agents; // each agent once
  activity_counts totals;
  std::map<std::string, tool_activity, std::less<>> tools;
  std::optional<std::string> prompt; // of the newest run
  std::uint64_t last_seq = 0;
  std::optional<std::uint32_t> queued_runs;
  std::optional<std::string>
      closed;                    // why nobody works at the session any more, though its agents have not ended
  std::vector<event_ptr> events; // for those who follow them
  std::uint64_t events_dropped = 0; // that were too many for one delta
};

// One a supervisor.
class activity_collector {
 public:
  static constexpr std::size_t max_events = 2048; // in one delta, for followers
  static constexpr std::size_t max_tools = 64;    // names counted apart in one delta; others under ""

  explicit activity_collector(session_id session);

  // A batch holds events of one agent, at least one. `followed`: somebody follows the events themselves.
  void add(const event_batch_ptr& batch, bool followed = false);

  // An agent that an earlier process started goes on here: its calls run and its questions are open; nothing is counted.
  void restore(const event_origin_ptr& origin, agent_started_body started, const agent_state& state,
               const std::vector<question_body>& open, timestamp now);

  // The agent cannot go on without this; empty: it can. The next event of it says so as well.
  void note_waiting(const event_origin_ptr& origin, std::string what);

  // Nobody works at the session any more, and its log will not say so: its agents are shown as failed.
  void note_closed(std::string why);

  // Runs that wait for the one that is under way.
  void note_queued(std::uint32_t runs);

  // What was collected since the last call.
  [[nodiscard]] std::shared_ptr<activity_delta> take();
  [[nodiscard]] bool empty() const noexcept { return !changed_; }

 private:
  agent_delta& entry(const event_origin_ptr& origin);
  void add(const event& e, agent_delta& agent);
  void count_tool(const event& e, const tool_result_body& result);
  void follow(const event_batch_ptr& batch);

  session_id session_;
  std::shared_ptr<activity_delta> pending_;
  std::unordered_map<agent_number, std::size_t> index_; // into pending_->agents
  std::uint32_t queued_runs_ = 0;
  bool changed_ = false;
};

} // namespace troupe
