// The agent loop, without threads, clocks or I/O.
//
//   decide(profile, state, input) → { events, commands }
//   apply(state, event) → state
//
// decide says what follows from an input; apply is the only place where state changes. Root agents and subagents, live
// runs and resumed runs use this one machine, so a resumed agent is the fold of its events. Ids and times arrive from
// outside: the caller stamps the events (make_events).
//
// What the machine promises, whatever comes in and in whatever order:
//   - each tool_call event is followed by exactly one tool_result event of the same call, in the log and in the prompt;
//     in the prompt results stand in the order of the calls;
//   - nothing stands between a turn's calls and its results; hints and background results follow them;
//   - an agent that started ends once; afterwards inputs change nothing but what waits for the next run.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/sparse.hpp>
#include <troupe/runtime/agent_profile.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

enum class agent_phase : std::uint8_t {
  idle,     // no run; a root agent between two runs
  thinking, // the model is asked, or is about to be
  working,  // calls are open
  grace,    // a limit was reached; the last model call is under way
  ended,    // a child that has ended
};

struct call_result {
  tool_result_part part;
  std::vector<data_part> data; // that came with it

  friend bool operator==(const call_result&, const call_result&) = default;
};

// A call of the turn that is under way.
struct open_call {
  call_id call;
  std::string name;
  std::string arguments;
  shared_text blob;
  bool asking = false;       // a question about it is open
  bool answered = false;     // its question was answered
  bool running = false;      // the question is its tool's own: the call goes on with the answer
  boxed<call_result> result; // set once

  friend bool operator==(const open_call&, const open_call&) = default;
};

struct limit_reached {
  errc code = errc::internal;
  std::string message;
  friend bool operator==(const limit_reached&, const limit_reached&) = default;
};

// Folded from the events of one agent. A root agent keeps its conversation over its runs.
struct agent_state {
  agent_number number = 0;
  agent_phase phase = agent_phase::idle;
  transcript conversation;
  std::vector<part> answer;     // pieces of the model answer that is not yet part of the conversation
  std::uint32_t turns = 0;      // model answers so far; numbers the turns of the session's whole life
  std::uint32_t run_turns = 0;  // model answers in this run
  std::uint32_t nudges = 0;     // in this run
  bool repaired = false;        // the repair turn of an output schema was used in this run
  std::vector<open_call> calls; // of the current turn, in the model's order
  std::uint32_t open = 0;       // calls without result
  sparse<std::vector<steering_body>> hints;               // wait for the next model call
  sparse<std::vector<background_result_body>> background; // likewise
  boxed<limit_reached> limit;
  std::string last_text;                              // what the model last said in this run
  sparse<std::map<std::string, nlohmann::json>> keys; // state keys that events wrote
  std::uint32_t events = 0;                           // events so far; numbers the next one
  troupe::usage used;                                 // of all model answers
  std::uint64_t run_tokens = 0;                       // of this run's model answers
  std::uint64_t bytes = 0;                            // of the conversation, as estimate_bytes counts them

  friend bool operator==(const agent_state& a, const agent_state& b);
};

// What may happen to an agent.
namespace input {

// Starts a run of the root, or the one run of a child.
struct start {
  content_ptr request; // null: results of background work that wait set the run of the root in motion
  std::string kind;    // "root", "prebuilt", "spawned", "registry"
  agent_number parent = 0;
  bool background = false;
  std::vector<std::pair<std::string, nlohmann::json>>
      shared{}; // `user:` and `app:` keys as the run finds them
};
struct model_done {
  model_response response;
  event_timing timing{};
};
// The call failed for good: retries are over.
struct model_failed {
  model_error error;
};
struct tool_done {
  call_id call;
  tool_result result;
  event_timing timing{};
};
struct child_done {
  call_id call;
  std::string name;
  std::string model;
  bool spawned = false;
  troupe::outcome outcome;
};
// A child works in the background from now on (or waits for its turn): its call has its result.
struct launched {
  call_id call;
  std::string name;
  std::string model;
  bool queued = false;
};
// The start of these calls is stored; they may run now.
struct durable {
  std::vector<call_id> calls;
};
struct steer {
  std::string text;
  std::string by;
};
struct answer {
  call_id question;
  nlohmann::json value;
  std::string by;
};
// Nobody answered in time.
struct question_expired {
  call_id question;
};
struct background_result {
  background_result_body result;
};
// What came of command::compact.
struct compacted {
  std::uint32_t contents = 0;
  std::optional<std::string> summary{}; // nothing: the model failed, and the contents are cut off
  troupe::usage used{};
};
enum class deadline_kind : std::uint8_t { run, grace };
struct deadline {
  deadline_kind kind;
};
// The run's budget has no tokens left for a model call.
struct out_of_budget {
  std::string message;
};
// A hook, or the shell, gives up the agent.
struct give_up {
  errc code;
  std::string message;
};
struct cancel {
  std::string by;
};
// The state was rebuilt from the log; what was under way is to be taken up again.
struct resumed {};
// Something worth telling that changes nothing.
struct note {
  event_body body;
};

} // namespace input

using agent_input =
    std::variant<input::start, input::model_done, input::model_failed, input::tool_done, input::child_done,
                 input::launched, input::durable, input::steer, input::answer, input::question_expired,
                 input::background_result, input::compacted, input::deadline, input::out_of_budget,
                 input::give_up, input::cancel, input::resumed, input::note>;

// What an agent wants done.
namespace command {

// build_request makes the request from the state.
struct call_model {};
struct cancel_model {};
struct call_tool {
  call_id call;
  std::string name;
  tool_ptr tool;
  nlohmann::json arguments;
  std::optional<tool_answer> answer{}; // the call has asked before, and goes on with this
};
// Make what was decided so far durable, then feed input::durable with these calls.
struct await_durability {
  std::vector<call_id> calls;
};
struct cancel_tool {
  call_id call;
};
// After input::resumed the child may be there already: then it goes on, or its result is told.
struct start_child {
  call_id call;
  agent_profile_ptr profile;
  content_ptr request;
  bool background = false; // answered with input::launched at once
};
// list_background, or cancel_background of one task; answered with input::tool_done.
struct manage_tasks {
  call_id call;
  std::optional<call_id> cancel;
};
// A model call that sums up the oldest contents; answered with input::compacted.
struct compact {
  std::uint32_t contents = 0;
};
struct cancel_child {
  call_id call;
  std::string by;
};
// The question's event is among the events; the clocks of the agent and its ancestors stand still until it is answered.
struct ask {
  call_id question;
};
struct question_closed {
  call_id question;
};
struct set_deadline {
  input::deadline_kind kind;
  std::chrono::milliseconds after;
};
struct clear_deadline {
  input::deadline_kind kind;
};
// The agent has ended; a child is gone after this.
struct finish {
  troupe::outcome outcome;
  std::vector<steering_body> hints; // that a child did not take: they go to the root
};

} // namespace command

using agent_command =
    std::variant<command::call_model, command::cancel_model, command::call_tool, command::await_durability,
                 command::cancel_tool, command::start_child, command::cancel_child, command::manage_tasks,
                 command::compact, command::ask, command::question_closed, command::set_deadline,
                 command::clear_deadline, command::finish>;

struct step {
  event_batch events; // not yet stamped: what they tell, and no more
  std::vector<agent_command> commands;
};

// What the caller knows and the machine does not.
struct decide_options {
  bool answerable = false; // somebody can answer questions; otherwise `ask` is a denial that says so
};

[[nodiscard]] step decide(const agent_profile& profile, const agent_state& state, const agent_input& in,
                          const decide_options& options = {});

[[nodiscard]] agent_state apply(agent_state state, const event& e);
void apply_to(agent_state& state, const event& e); // in place

// Folds the events of one agent, in their order.
[[nodiscard]] agent_state fold(agent_number number, const std::vector<event>& events);

// The decided events with their origin, time and index, not yet with a seq.
[[nodiscard]] event_batch make_events(step& decided, const event_origin_ptr& origin, const agent_state& state,
                                      timestamp now);

// The request that sums up the oldest `contents` contents of the conversation.
[[nodiscard]] model_request build_summary_request(const agent_profile& profile, const agent_state& state,
                                                  std::uint32_t contents);

// The request of the next model call. Requires phase thinking or grace.
// `head` of the profile is used, or its grace_head in grace. `model` (the provider's name) and `stream` are left to the
// caller.
[[nodiscard]] model_request build_request(const agent_profile& profile, const agent_state& state);

} // namespace troupe
