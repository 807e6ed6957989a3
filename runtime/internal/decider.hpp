// What follows from an input: one decider a step. Its parts: inputs (turn_decide.cpp), the calls of a turn
// (turn_decide_calls.cpp), how a run ends (turn_decide_end.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/internal/delegate.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

// The text, with what is not UTF-8 in it replaced.
inline std::string clean(std::string text) {
  return is_valid_utf8(text) ? std::move(text) : valid_utf8(text);
}

// A call that passed all checks.
struct checked_call {
  const bound_tool* tool = nullptr;
  nlohmann::json arguments;
};

class decider {
 public:
  decider(const agent_profile& profile, const agent_state& state, const decide_options& options)
      : profile_(profile), state_(state), options_(options), open_(state.open), run_turns_(state.run_turns) {}

  step take() { return std::move(out_); }

  void on(const input::start& in);

  void on(const input::model_done& in);

  void on(const input::model_failed& in);

  void on(const input::tool_done& in);

  void on(const input::child_done& in);

  void on(const input::launched& in);

  void on(const input::durable& in);

  void on(const input::steer& in) { emit(steering_body{clean(in.text), in.by}); }

  void on(const input::background_result& in) { emit(background_result_body{in.result}); }

  void on(const input::answer& in);

  void on(const input::question_expired& in);

  void on(const input::compacted& in);

  void on(const input::deadline& in);

  void on(const input::out_of_budget& in) { limit(errc::budget, in.message); }

  void on(const input::give_up& in);

  void on(const input::cancel& in);

  void on(const input::resumed&);

  void on(const input::note& in) { emit(in.body); }

 private:
  [[nodiscard]] bool running() const;

  void emit(event_body body, const troupe::usage& used = {}, event_timing timing = {}) {
    auto& e = out_.events.emplace_back();
    e.body = std::move(body);
    e.usage = used;
    e.timing = timing;
  }
  void command(agent_command c) { out_.commands.push_back(std::move(c)); }

  // The answer's parts as events, in their order; gives the number of calls.
  std::size_t emit_answer(const model_response& response, event_timing timing);

  // The calls of an answer, with their ids.
  [[nodiscard]] std::vector<open_call> calls_of(const std::vector<part>& parts) const;
  void begin_calls(const std::vector<part>& parts);

  // Checks a new call and starts it, asks about it, or gives it its error.
  void begin(const open_call& call);

  // The call's tool and arguments; a call that fails is resolved here and gives nothing.
  std::optional<checked_call> check(const open_call& call);

  std::string unknown_tool_text(const std::string& name) const;

  [[nodiscard]] const agent_profile* remote_child(const std::string& name) const;
  policy_verdict judge(const open_call& call, const checked_call& checked) const;

  void ask(const open_call& call, nlohmann::json schema, std::string message, std::string reason);

  // The tool's own question: the call goes on with the answer, or without one.
  void ask_for_tool(const open_call& call, const tool_question& question);
  void go_on(const open_call& call, tool_answer answer);

  void carry_out(const open_call& call, const checked_call& checked);

  void start(const open_call& call, child_order order, bool background = false);

  void spawn(const open_call& call, const nlohmann::json& arguments);

  void finish_task(const open_call& call, const nlohmann::json& arguments);

  void request_input(const open_call& call, const nlohmann::json& arguments);

  void start_function(const open_call& call, const checked_call& checked);

  // Runs a function whose start is durable.
  void run_function(const open_call& call);

  [[nodiscard]] bool is_exclusive(const open_call& call) const;
  [[nodiscard]] bool may_run(const open_call& call) const;

  // An exclusive call starts when every other call of its turn has its result; several start one after the other.
  void start_exclusive();

  [[nodiscard]] static bool has(const std::vector<call_id>& ids, const call_id& id);

  void flush_durable();

  void resolve(const open_call& call, const tool_result& r, event_timing timing = {});

  void resume_call(const open_call& call);

  void after_results();

  // The arguments of the finish_task that was accepted in this turn.
  std::optional<nlohmann::json> finished_task();

  outcome complete_task(nlohmann::json value) const;

  void end_without_calls();

  void nudge();

  // The JSON value of an answer; a fence around it is taken off.
  result<nlohmann::json> structured(std::string_view text) const;

  void end_grace(const std::vector<part>& parts);

  // What the model said in this step.
  [[nodiscard]] std::string said() const;

  // A limit: every open call gets its result, then comes one last model call.
  void limit(errc code, std::string message);

  // Only for inputs from outside the turn: a step that resolved calls itself has none open when it gets here.
  void close_calls(errc code, const std::string& why);

  void deliver();

  void ask_model();

  // How many of the oldest contents are to be summed up before the next model call; 0: none.
  [[nodiscard]] std::uint32_t to_compact() const;

  void fail(errc code, std::string detail);

  void finish(outcome o);

  const agent_profile& profile_;
  const agent_state& state_;
  const decide_options& options_;
  step out_;
  std::uint32_t open_;      // calls without result, after this step's events
  std::uint32_t run_turns_; // likewise
  std::vector<call_id> durable_;
  std::vector<call_id> resolved_; // by this step; kept only where exclusive tools need it
  std::vector<call_id> asked_;
  std::vector<std::string> spawned_;
  const std::vector<open_call>* turn_calls_ = nullptr; // the calls that this step makes
  std::optional<nlohmann::json> task_result_;
};

} // namespace troupe
