// The state and the rules of a supervisor; see supervisor.hpp. Its parts: opening a session, and its log (supervisor_log.cpp),
// messages and deadlines (supervisor.cpp), runs (supervisor_runs.cpp), agents and their crashes
// (supervisor_agents.cpp), background work (supervisor_tasks.cpp), hints, answers and cancellation
// (supervisor_routes.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/supervisor.hpp>
#include <troupe/runtime/activity_collector.hpp>
#include <troupe/runtime/deadline_queue.hpp>
#include <troupe/runtime/state_keys.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::actors {

enum class timer_kind : std::uint8_t { run, grace, idle, question };

// Of an agent; the last number tells its questions apart.
using timer_key = std::tuple<agent_number, timer_kind, std::uint64_t>;

inline timer_key key_of(agent_number agent, timer_kind kind) {
  return {agent, kind, 0};
}
inline timer_key key_of(agent_number agent, input::deadline_kind kind) {
  return key_of(agent, kind == input::deadline_kind::run ? timer_kind::run : timer_kind::grace);
}

// An agent that is alive.
struct member {
  agent_handle handle;
  event_origin_ptr origin;
  std::string model;
  std::string kind;
  agent_number parent = 0;
  call_id call;
  bool background = false;
  bool starting = false;                 // and no event of it has come
  std::uint32_t events = 0;              // index of its last event
  std::uint32_t open_calls = 0;          // calls without result
  std::uint32_t asking = 0;              // open questions of its own
  std::uint32_t children = 0;            // that it waits for
  std::vector<steer_agents> hints;       // sent to it, not yet in the log; few
  std::vector<std::string> copied_hints; // in its log, which the root has got too; few
  std::uint32_t paused = 0;              // open questions of it and its descendants
  // Of its deadlines for the run and the grace call, while it is paused.
  std::array<std::optional<std::chrono::steady_clock::duration>, 2> left{};

  [[nodiscard]] std::optional<std::chrono::steady_clock::duration>& left_of(timer_kind of) {
    return left.at(static_cast<std::size_t>(of));
  }
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
  bool woken = false; // by results of background work
};

struct open_question {
  question_body asked;
  std::uint64_t number = 0;
  std::function<void(status)> done; // of the answer that is on its way
};

// A job that an agent does in the background. Terminal once it has ended.
struct task {
  std::uint64_t order = 0;
  std::string name;
  std::string model;
  agent_profile_ptr profile;
  content_ptr request;
  run_id run;
  std::shared_ptr<run_budget> budget;
  bool answerable = false;
  agent_number child = 0; // 0: not started
  std::optional<outcome> ended;
  bool delivered = false;
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
  subtype_t subtype() const override { return resumable::io_actor; } // lent threads run it too

  behavior_type make_behavior() override;

  void on_exit() override;

 private:
  // -- the session and its log ------------------------------------------------------------------------------------------

  // closed: nothing was asked of it yet. reading: the journal reads the log, and messages from outside wait. leaving: it
  // was suspended, and messages from outside go back to `sessions`.
  enum class phase : std::uint8_t { closed, reading, open, failed, leaving };

  void make_context();

  // True when the session is open, or cannot be opened. Otherwise the message waits until it is, and comes back through
  // `later`; one that finds too many others waiting is turned down.
  template <class Message, class Later>
  bool ready(const Message& message, Later later, const open_options& options);

  void turn_down(const start_run& start);
  static void turn_down(const steer_agents& steer);
  static void turn_down(const answer_question& answer);
  static void turn_down(const cancel_agents&) {}
  static void turn_down(const query_tasks& query);

  [[nodiscard]] open_options default_open() const;
  void read_log(std::optional<open_options> open);
  void take_contents(result<session_contents> contents);
  void adopt(folded_session folded);

  // A run of another root agent was under way when an earlier supervisor died: it gets its end.
  void close_lost_run();
  void close_root(const std::string& why, errc code, const event_origin_ptr& origin);

  // Stamps a batch and passes the same pointer to the store, the run's reader and the observer.
  void publish(const std::shared_ptr<event_batch>& batch);
  void take_written(const log_written& report);

  // Calls `action` once all that was published until now is durable, or `lost` when it will not be.
  void when_durable(std::function<void()> action, std::function<void(const error&)> lost = {});

  // Without its log a session promises nothing: its runs end with the reason.
  void fail_store(const error& why);
  void fail_all(const error& why);

  // One delta is on the way at a time. At the end of a run the rest goes at once, so that who has seen the outcome finds
  // all of the run in the observer.
  void send_activity(bool at_once = false);

  // An event that an agent can no longer write itself.
  void write_for(member& agent, std::initializer_list<event_body> bodies);

  // -- runs -------------------------------------------------------------------------------------------------------------

  void accept(const start_run& start);
  void refuse(waiting_run& next, errc code, std::string why);

  // Goes on with what the log says was under way; takes the feed of a request to resume.
  void take_up(waiting_run& next);
  void take_up_run(const folded_session& lost, waiting_run& next);
  // There is no run to go on with.
  void resume_rest(waiting_run next);

  void begin_next();
  void begin(waiting_run next, bool woken);
  void begin_woken();
  [[nodiscard]] bool will_wake() const;
  void start_root();
  member& ensure_root();

  // Of a root that is told something before its first run in this process.
  event_origin_ptr idle_origin() const;

  member& add_member(agent_number number, member agent, agent_start start);

  void end_run(outcome result);
  void finish_when_durable(run_feed_writer feed, outcome result);

  // Nothing goes on and nothing will by itself.
  [[nodiscard]] bool quiet() const;
  void note_quiet();

  void suspend(const outcome& result, std::function<void()> suspended);
  // `sessions` has let go of it: it tells who waits, gives back what came in between, and ends.
  void leave();
  // Every agent waits for an answer, or for one that does.
  [[nodiscard]] bool blocked() const;
  void suspend_when_blocked();

  // -- agents -----------------------------------------------------------------------------------------------------------

  void take_step(const agent_step& step);
  void note_events(member& agent, const event_batch& batch);
  void note_call(member& agent, const event& e);
  void note_shared(const state_body& write);

  template <class Command>
  void carry_out(agent_number, const Command&) {}

  void carry_out(agent_number parent, const command::start_child& c);
  void carry_out(agent_number, const command::cancel_child& c);
  void carry_out(agent_number number, const command::manage_tasks& c);
  void carry_out(agent_number number, const command::await_durability& c);
  void carry_out(agent_number number, const command::ask& c);
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
      if (number == 0 || found->second.background)
        return;
      number = found->second.parent;
    }
  }

  // True when the child of this call is there already, or has ended: its parent is told again.
  bool found_again(agent_number parent, const command::start_child& c);
  std::shared_ptr<event_origin> child_origin(agent_number number, const call_id& call,
                                             const std::string& name, const run_id& run) const;
  void start_child(agent_number parent, const command::start_child& c);

  // Has agents that hold commands back pass on more of them, unless many children have yet to begin.
  void want_commands();
  // Shows an agent that an earlier process started, with its open calls and questions.
  void show_restored(const event_origin_ptr& origin, agent_started_body started, const agent_state& state);
  void restore_child(folded_child child, const agent_profile_ptr& profile,
                     const std::shared_ptr<run_budget>& budget, bool answerable);

  // The child is gone; its parent gets the outcome, and hints that it did not take go to the root.
  void end_child(agent_number number, const outcome& result);

  void tell(agent_number number, agent_input in);

  // -- crashes ----------------------------------------------------------------------------------------------------------

  void agent_down(const caf::down_msg& down);
  void child_crashed(agent_number number, const std::string& why);

  // Rebuilt from the log, unless it crashes again and again.
  void root_crashed(const std::string& why);
  void give_up_root(const std::string& why);
  void rebuild_root(std::shared_ptr<agent_state> restored);
  void restart_root();
  void take_root_hints();

  // -- background work --------------------------------------------------------------------------------------------------

  void launch_task(agent_number parent, const command::start_child& c);
  void start_task(const call_id& id);
  void start_queued();
  [[nodiscard]] std::uint32_t max_background() const;
  void end_task(const call_id& id, const outcome& result);
  // Ends a task that no agent works at any more, with its record in the log.
  void close_task(const call_id& id, const outcome& result);
  void deliver(const call_id& id);
  void note_delivered(const call_id& id);
  void cancel_tasks(const std::string& by);
  // Gives what the task was when it was asked to end.
  result<task_status> cancel_task(const call_id& id, const std::string& by);
  void restore_tasks(const agent_profile& root, bool answerable);
  void restore_task(const folded_task& folded, const agent_profile& root, bool answerable);
  [[nodiscard]] std::vector<background_task> list_tasks() const;
  void answer_query(const query_tasks& query);
  void forget_tasks();

  // -- steering, answers, cancellation ----------------------------------------------------------------------------------

  void route_hint(const steer_agents& steer);
  void hint_to(agent_number number, const steer_agents& hint);
  void write_hint(const steer_agents& steer);
  void route_answer(const answer_question& answer);
  void close_questions_of(agent_number number);
  [[nodiscard]] bool is_coming_back(agent_number number) const;
  void take_early_answers();
  void close_question(const call_id& id, status result);
  void route_cancel(const cancel_agents& cancel);

  // -- deadlines --------------------------------------------------------------------------------------------------------

  // One timer of CAF at a time: for the earliest deadline.
  void schedule();
  void fire_deadlines();
  void arm_idle();
  void expire_question(std::uint64_t number);

  // Queues are lists here, of which an empty one owns no memory: an empty deque has over half a kilobyte, and there are many
  // sessions.

  const session_id session_;
  std::shared_ptr<const supervisor_environment> environment_;
  sessions_handle owner_;
  std::shared_ptr<const session_context> context_;

  phase phase_ = phase::closed;
  std::optional<error> store_fault_;         // the log could not be read: the session takes no runs
  std::list<std::function<void()>> stashed_; // while the log is read; bounded by max_waiting_runs
  bool replaying_ = false;                   // those messages are taken now
  bool watches_journal_ = false;
  std::uint64_t epoch_ = 0;
  std::uint64_t seq_ = 0;
  std::uint64_t durable_seq_ = 0;
  struct unwritten {
    std::uint64_t seq;
    event_batch_ptr batch;
    std::shared_ptr<run_feed> feed;
  };
  // Not yet durable. An agent has at most a few steps on the way: each waits for a model, a tool or a child.
  std::list<unwritten> unwritten_;
  struct durable_action {
    std::uint64_t seq;
    std::function<void()> action;
    std::function<void(const error&)> lost;
  };
  std::list<durable_action> when_durable_;

  agent_number next_number_ = 1;
  std::uint32_t next_run_ = 1;
  std::shared_ptr<agent_state> restored_root_; // what the log says of a root that is not alive
  std::optional<folded_session> lost_;         // what was under way when the last writer ended
  std::vector<std::pair<std::string, nlohmann::json>> shared_state_;

  std::optional<current_run> run_;
  std::list<waiting_run> waiting_; // bounded by max_waiting_runs
  std::shared_ptr<const run_request> last_request_;
  std::optional<waiting_run> resuming_; // waits for a woken run, or for quiet
  std::uint32_t wakes_ = 0;             // runs in a row that background results set in motion
  std::uint32_t pending_results_ = 0;   // in the root's log, not yet in its conversation
  bool wake_limit_told_ = false;
  bool no_wake_ = false; // all was cancelled; the next request sets runs in motion again

  std::unordered_map<agent_number, member> members_;
  std::uint32_t starting_ = 0;             // of them
  std::vector<agent_number> holding_back_; // commands
  std::unordered_map<caf::actor_id, agent_number> by_actor_;
  std::unordered_map<call_id, agent_number> by_call_;             // children
  std::unordered_map<call_id, input::child_done> ended_children_; // told to the root, not yet in its log
  std::unordered_map<call_id, folded_child> lost_children_;       // of the run that is resumed
  std::list<steer_agents> root_hints_;                            // for a root that is being rebuilt
  std::optional<std::string> giving_up_;                          // why the root is not started again
  std::map<call_id, open_question> questions_;
  std::uint64_t next_question_ = 1;
  std::vector<answer_question> early_answers_; // to agents that are coming back; one a question
  bool taking_up_ = false;                     // what was under way is being restored
  std::vector<steady_time> root_restarts_;

  std::map<call_id, task> tasks_;   // terminal and delivered ones up to keep_tasks
  std::list<call_id> queued_tasks_; // bounded by max_children
  std::uint32_t running_tasks_ = 0;
  std::uint32_t undelivered_ = 0; // ended, not yet in the root's log
  std::uint64_t next_task_ = 1;
  std::list<call_id> delivered_tasks_; // those that stay in the list
  std::vector<std::function<void()>> await_quiet_;
  std::vector<std::pair<run_feed_writer, outcome>> suspended_runs_; // told when it leaves
  std::vector<std::function<void()>> suspended_;                    // likewise

  deadline_queue<timer_key> deadlines_;
  std::optional<steady_time> tick_at_;
  std::uint64_t tick_generation_ = 0;

  activity_collector collector_;
  bool activity_in_flight_ = false;
  std::uint64_t deltas_sent_ = 0;
};

template <class Message, class Later>
bool supervisor::ready(const Message& message, Later later, const open_options& options) {
  // What failed is tried anew for a message that comes later.
  if (phase_ == phase::failed && epoch_ == 0 && !replaying_) {
    phase_ = phase::closed;
    store_fault_.reset();
  }
  if (phase_ == phase::open || phase_ == phase::failed)
    return true;
  if (phase_ == phase::leaving) {
    stashed_.push_back([this, message] { send(owner_, message); });
    return false;
  }
  if (phase_ == phase::closed)
    read_log(options);
  if (phase_ != phase::reading)
    return true;
  if (stashed_.size() < environment_->options.max_waiting_runs)
    stashed_.push_back([message, later] { later(message); });
  else
    turn_down(message);
  return false;
}

} // namespace troupe::actors
