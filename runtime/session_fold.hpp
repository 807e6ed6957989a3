// What the log of a session says is going on in it: folded when a supervisor takes the session up.
//
// Pure values; not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

// A child that has not ended, or whose parent has not been told how.
struct folded_child {
  agent_state state;
  event_origin_ptr origin;
  agent_started_body started;
  std::optional<outcome> ended;
};

// Background work whose result the root has not got.
struct folded_task {
  call_id task;
  std::string name;
  std::string arguments; // of the call that started it
  run_id run;
  agent_number child = 0; // 0: it waits for its turn
  std::optional<outcome> ended;
};

struct folded_session {
  agent_state root;
  event_origin_ptr root_origin; // of its last event; null when there is none
  std::uint64_t last_seq = 0;
  agent_number next_agent = 1;
  std::uint32_t next_run = 1;
  std::map<agent_number, folded_child> children; // tasks included
  std::vector<folded_task> tasks;                // in the order of their calls
  std::map<call_id, question_body> questions;    // open ones
  std::uint32_t wakes = 0;                       // runs in a row that background results set in motion
  std::uint32_t run_children = 0;                // children of the last run
  std::uint64_t run_tokens = 0;                  // of the last run and its children

  // A run has begun and not ended.
  [[nodiscard]] bool under_way() const noexcept { return root.phase != agent_phase::idle; }
};

class session_fold {
 public:
  // Events in the order of their seq.
  void add(const event& e);
  [[nodiscard]] folded_session take() { return std::move(session_); }
  [[nodiscard]] const folded_session& session() const noexcept { return session_; }

 private:
  void add_root(const event& e);
  void add_child(const event& e);
  void note_question(const event& e);
  void launch(const tool_result_body& result, const run_id& run);
  void end_child(folded_child& child, const agent_ended_body& ended);
  folded_task* find_task(const call_id& task);

  folded_session session_;
  std::vector<call_id> delivered_early_; // tasks whose results came before that of the call that started them
};

} // namespace troupe
