// The state and the rules of a supervisor; see supervisor.hpp. Its parts: the log and deadlines (supervisor.cpp), runs
// (supervisor_runs.cpp), agents and their crashes (supervisor_agents.cpp), hints, answers and cancellation
// (supervisor_routes.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/supervisor.hpp>
#include <troupe/runtime/deadline_queue.hpp>

#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::actors {

enum class timer_kind : std::uint8_t { run, grace, idle };
using timer_key = std::pair<agent_number, timer_kind>;

inline timer_kind to_timer(input::deadline_kind kind) {
  return kind == input::deadline_kind::run ? timer_kind::run : timer_kind::grace;
}

// An agent that is alive.
struct member {
  agent_handle handle;
  event_origin_ptr origin;
  std::string model;
  std::string kind;
  agent_number parent = 0;
  call_id call;
  std::uint32_t events = 0;                                       // index of its last event
  std::deque<steer_agents> hints;                                 // sent to it, not yet in the log
  std::uint32_t paused = 0;                                       // open questions of it and its descendants
  std::map<timer_kind, std::chrono::steady_clock::duration> left; // of its deadlines, while it is paused
};

struct waiting_run {
  std::shared_ptr<const run_request> request;
  run_feed_writer feed;
};

struct current_run {
  std::shared_ptr<const run_request> request;
  run_feed_writer feed;
  event_origin_ptr origin;
  std::shared_ptr<run_budget> budget;
  std::uint32_t children = 0;
};

struct open_question {
  nlohmann::json schema;
  std::function<void(status)> done; // of the answer that is on its way
};

class supervisor final : public supervisor_handle::base {
 public:
  supervisor(caf::actor_config& config, session_id session,
             std::shared_ptr<const supervisor_environment> environment, sessions_handle owner)
      : supervisor_handle::base(config), session_(std::move(session)), environment_(std::move(environment)),
        owner_(std::move(owner)), collector_(session_) {
    set_handlers(this, [this](const caf::down_msg& down) { agent_down(down); });
  }

  const char* name() const override { return "supervisor"; }

  behavior_type make_behavior() override;

  void on_exit() override;

 private:
  // -- the session's log ------------------------------------------------------------------------------------------------

  void make_context();

  // Folds what the store has of this session: numbers go on, and the root keeps its conversation.
  void load();
  void close_lost_run();
  void close_root(const std::string& why, errc code, const event_origin_ptr& origin);

  agent_state load_event(agent_state root, const event& e);

  // Stamps a batch and passes the same pointer to the store, the run's reader and the observer.
  void publish(const std::shared_ptr<event_batch>& batch);

  // Without its log a session promises nothing: its run ends with the reason.
  void fail_store(const error& why);

  // One delta is on the way at a time. At the end of a run the rest goes at once, so that who has seen the outcome finds
  // all of the run in the observer.
  void send_activity(bool at_once = false);

  // An event that an agent can no longer write itself.
  void write_for(member& agent, std::initializer_list<event_body> bodies);

  // -- runs -------------------------------------------------------------------------------------------------------------

  void accept(const start_run& start);

  void refuse(waiting_run& next, errc code, std::string why);

  void begin_next();

  void start_root();

  member& ensure_root();

  // Of a root that is told something before its first run in this process.
  event_origin_ptr idle_origin() const;

  member& add_member(agent_number number, member agent, agent_start start);

  void end_run(outcome result);

  void arm_idle();

  // -- agents -----------------------------------------------------------------------------------------------------------

  void take_step(const agent_step& step);

  void note_events(member& agent, const event_batch& batch);

  template <class Command>
  void carry_out(agent_number, const Command&) {}

  void carry_out(agent_number parent, const command::start_child& c);

  void carry_out(agent_number, const command::cancel_child& c);

  void carry_out(agent_number number, const command::ask&);

  void carry_out(agent_number number, const command::question_closed& c);

  void carry_out(agent_number number, const command::set_deadline& c);

  void carry_out(agent_number number, const command::clear_deadline& c);

  void carry_out(agent_number number, const command::finish& c);

  template <class F>
  void for_ancestors(agent_number number, F act) {
    for (;;) {
      auto found = members_.find(number);
      if (found == members_.end())
        return;
      act(number, found->second);
      if (number == 0)
        return;
      number = found->second.parent;
    }
  }

  // The child is gone; its parent gets the outcome, and hints that it did not take go to the root.
  void end_child(agent_number number, const outcome& result);

  void tell(agent_number number, agent_input in);

  // -- crashes ----------------------------------------------------------------------------------------------------------

  void agent_down(const caf::down_msg& down);

  void child_crashed(agent_number number, const std::string& why);

  // Rebuilt from the log, unless it crashes again and again.
  void root_crashed(const std::string& why);

  void give_up_root(member& root, const std::string& why);

  void load_root_state();

  // -- steering, answers, cancellation ----------------------------------------------------------------------------------

  void route_hint(const steer_agents& steer);

  void hint_to(agent_number number, const steer_agents& hint);

  void route_answer(const answer_question& answer);

  void close_question(const call_id& id, status result);

  void route_cancel(const cancel_agents& cancel);

  // -- deadlines --------------------------------------------------------------------------------------------------------

  // One timer of CAF at a time: for the earliest deadline.
  void schedule();

  void fire_deadlines();

  const session_id session_;
  std::shared_ptr<const supervisor_environment> environment_;
  sessions_handle owner_;
  std::shared_ptr<const session_context> context_;

  std::uint64_t seq_ = 0;
  agent_number next_number_ = 1;
  std::uint32_t next_run_ = 1;
  std::optional<error> store_fault_;           // the log could not be read: the session takes no runs
  std::shared_ptr<agent_state> restored_root_; // what the log says of a root that is not alive

  std::optional<current_run> run_;
  std::deque<waiting_run> waiting_; // bounded by max_waiting_runs
  std::unordered_map<agent_number, member> members_;
  std::unordered_map<caf::actor_id, agent_number> by_actor_;
  std::unordered_map<call_id, agent_number> by_call_;             // children
  std::unordered_map<call_id, input::child_done> ended_children_; // told to the root, not yet in its log
  std::unordered_map<call_id, open_question> questions_;
  std::vector<steady_time> root_restarts_;

  deadline_queue<timer_key> deadlines_;
  std::optional<steady_time> tick_at_;
  std::uint64_t tick_generation_ = 0;

  activity_collector collector_;
  bool activity_in_flight_ = false;
};

} // namespace troupe::actors
