// Every typed actor handle of troupe, and the messages that they take.
//
// Messages stay in the process: they hold shared pointers and are never serialised by CAF. This is the one installed
// header that shows CAF.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/caf.hpp>
#include <troupe/runtime/activity_collector.hpp>
#include <troupe/runtime/ports/engine.hpp>
#include <troupe/runtime/ports/model_provider.hpp>
#include <troupe/runtime/profile_extension.hpp>
#include <troupe/runtime/run_budget.hpp>
#include <troupe/runtime/session_fold.hpp>
#include <troupe/runtime/tool.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace troupe::actors {

class piece_stream;

// A place among the calls of a model that may be under way. What became of the call frees it, and so does destroying it:
// then the call was given up. Thread-safe, but for two of these at once.
class permit {
 public:
  virtual ~permit() = default;
  // The call starts now.
  virtual void begin() noexcept = 0;
  // `timing` is what the caller measured.
  virtual void completed(const usage& used, const event_timing& timing) noexcept = 0;
  virtual void failed(const model_error& error) noexcept = 0;
};
using permit_ptr = std::shared_ptr<permit>;

// -- messages -----------------------------------------------------------------------------------------------------------

// An input of the turn machine.
struct feed_input {
  std::shared_ptr<const agent_input> in;
};
// The root starts its next run.
struct begin_run {
  agent_profile_ptr profile;
  event_origin_ptr origin;
  std::shared_ptr<const input::start> start;
  std::shared_ptr<run_budget> budget; // null: none
  bool answerable = false;
  std::uint32_t hops = 0; // as in run_request
};
// What a model call gave. `call` tells late answers of cancelled calls.
struct model_reply {
  std::uint64_t call = 0;
  std::shared_ptr<std::variant<model_response, model_error>> answer;
  event_timing timing{};
};
struct permit_granted {
  std::uint64_t call = 0;
  permit_ptr place;
};
// The sources of an agent's tools have answered. `opening` tells late answers.
struct tools_opened {
  std::uint64_t opening = 0;
  std::shared_ptr<opened_offers::found_tools> found;
};

// The events of an agent's steps and what it wants of its supervisor, in this order. Steps that follow on each other
// without a wait come as one.
struct agent_step {
  agent_number agent = 0;
  std::shared_ptr<event_batch> events; // not yet stamped; null when there are none
  std::vector<agent_command> commands;
  std::optional<std::string> waiting_for{}; // what it cannot go on without after them; empty: nothing
  steady_time sent{};                       // zero: the wait in the mailbox is not measured
  bool holds_back = false;                  // more commands follow on commands_wanted
};
// A supervisor is ready for more of an agent's commands.
struct commands_wanted {};
struct start_run {
  std::shared_ptr<const run_request> request;
  std::shared_ptr<run_feed_writer> feed; // taken by the supervisor; a message that is lost ends the feed
};
struct steer_agents {
  session_id session;
  std::optional<agent_id> agent;
  std::string text;
  std::string by;
  std::function<void(status)> done;
  bool copied = false; // the root has got it too
};
struct answer_question {
  session_id session;
  call_id question;
  nlohmann::json value;
  std::string by;
  std::function<void(status)> done;
};
struct cancel_agents {
  session_id session;
  std::optional<agent_id> agent;
  std::string by;
  bool background = false; // background work too
};
struct query_tasks {
  session_id session;
  std::optional<call_id> cancel;
  std::string by;
  std::function<void(result<std::vector<background_task>>)> done;
};
struct await_quiet {
  session_id session;
  std::function<void()> done;
};
struct suspend_session {
  session_id session;
  std::function<void()> done; // may be empty
};
struct tick {
  std::uint64_t generation = 0;
};
struct activity_taken {};
struct stop_actor {};

// A supervisor has taken up work of its own: a background task, or a run that one set in motion.
struct work_begun {
  session_id session;
};
// A supervisor has finished an item of work.
struct work_done {
  session_id session;
};
// A supervisor was suspended and takes nothing any more; answered with stop_actor.
struct supervisor_leaves {
  session_id session;
};
// A supervisor has had nothing to do for a while.
struct supervisor_idle {
  session_id session;
};
// Refuse new work and end what runs; answered when nothing runs any more.
struct drain {
  shutdown_mode mode = shutdown_mode::cancel;
};
// What still runs.
struct drained {
  std::vector<std::string> running;
};

// What the journal found in a session's log, and the right to write it where that was asked for.
struct session_contents {
  session_lease lease;
  folded_session folded;
  std::vector<std::pair<std::string, nlohmann::json>> shared; // `user:` and `app:` keys
};
struct session_read {
  std::shared_ptr<result<session_contents>> contents;
};
// The events up to `seq` are durable, or the log cannot be written any more.
struct log_written {
  std::uint64_t seq = 0;
  status written;
};

// The receiver takes what it can use out of the delta.
struct activity_message {
  std::shared_ptr<activity_delta> delta;
  steady_time sent{}; // zero: the wait in the mailbox is not measured
};
struct pieces_ready {
  std::shared_ptr<piece_stream> stream;
};
struct snapshot_request {
  std::optional<session_id> session;
};
struct snapshot_reply {
  std::shared_ptr<const activity_snapshot> snapshot;
};
// Questions of those who follow; `done` is called on the observer's thread.
struct query_changes {
  activity_query query;
  std::function<void(std::shared_ptr<const activity_changes>)> done;
};
struct query_events {
  event_query query;
  std::function<void(std::shared_ptr<const recent_events>)> done;
};
struct query_vitals {
  std::function<void(std::shared_ptr<const activity_vitals>)> done;
};
struct watch_partials {
  std::uint64_t watcher = 0;
  session_id session;
  partial_sink sink; // empty: the watcher leaves
};

struct tool_job {
  tool_ptr tool;
  std::shared_ptr<const nlohmann::json> arguments;
  std::shared_ptr<tool_context> context;
  std::shared_ptr<std::stop_source> stop;
};
struct tool_finished {
  std::uint64_t job = 0;
  std::shared_ptr<tool_result> result;
  std::uint32_t took_us = 0;
};
struct cancel_job {
  agent_id agent;
  call_id call;
};

// -- handles ------------------------------------------------------------------------------------------------------------

using agent_handle = typed<void(begin_run),       // starts a run of the root
                           void(feed_input),      // anything that the turn machine takes
                           void(model_reply),     // the end of a model call
                           void(permit_granted),  // a model call may start
                           void(commands_wanted), // pass on what was held back
                           void(tools_opened)>;   // which tools its sources have

using supervisor_handle = typed<void(start_run),       // a run of this session
                                void(agent_step),      // what one of its agents did
                                void(steer_agents),    // a hint
                                void(answer_question), // an answer
                                void(cancel_agents),   // cancel the run or one agent
                                void(query_tasks),     // list background work, or cancel one
                                void(await_quiet),     // tell when nothing goes on any more
                                void(suspend_session), // stop where it is
                                void(session_read),    // from the journal
                                void(log_written),     // likewise
                                void(tick),            // a deadline may have come
                                void(activity_taken),  // the observer can take the next delta
                                void(stop_actor)>;     // end; nothing runs

using sessions_handle =
    typed<void(start_run),         // find or start the session's supervisor
          void(steer_agents),      // likewise
          void(answer_question),   // likewise
          void(cancel_agents),     // likewise; a session that is not there has nothing to cancel
          void(query_tasks),       // likewise
          void(await_quiet),       // likewise
          void(suspend_session),   // likewise
          void(work_begun),        // from a supervisor
          void(supervisor_leaves), // likewise
          void(work_done),         // from a supervisor
          void(supervisor_idle),   // from a supervisor
          drained(drain)>;         // shutdown

using observer_handle = typed<void(activity_message), // from a supervisor; acknowledged with activity_taken
                              void(pieces_ready),     // from a model call that streams
                              void(watch_partials),   // somebody follows the pieces of a session
                              void(query_changes),    // what has changed in the tree
                              void(query_events),     // the newest events
                              void(query_vitals),     // how the whole is doing
                              snapshot_reply(snapshot_request)>; // the live tree

// Asks for a place, at the earliest after a delay. Answered with permit_granted.
struct permit_request {
  session_id session;
  agent_handle agent;
  std::uint64_t call = 0;
  std::chrono::milliseconds delay{0};
  std::uint64_t tokens = 0; // that the call may take, where the model's tokens are limited
};
// A place has become free.
struct place_free {};
// A delayed request is due.
struct permit_due {
  permit_request request;
};

using gateway_handle = typed<void(permit_request), // queue for a place
                             void(permit_due),     // a request that had to wait is due
                             void(place_free),     // a place may be given
                             void(tick)>;          // the model may be asked again

// Reads a session's log, and becomes its writer when `open` is set. Answered with session_read.
struct read_session {
  session_id session;
  std::optional<open_options> open;
  supervisor_handle reader;
};
// Appends; answered with log_written once it is durable.
struct write_log {
  log_write write;
  supervisor_handle writer;
};
// The writer is done with the session.
struct close_session {
  session_id session;
  std::uint64_t epoch = 0;
  bool empty = false; // it was opened for a message that it does not exist for, and is forgotten
};
// Commit what has come since the last commit.
struct commit_writes {};

using journal_handle = typed<void(read_session),  // from a supervisor
                             void(write_log),     // likewise
                             void(close_session), // likewise
                             void(commit_writes), // to itself
                             void(stop_actor)>;   // commit and end

// A job and who gets its result.
struct run_job {
  tool_job job;
  agent_handle agent;
};

using tool_pool_handle = typed<void(run_job),       // run a tool off the scheduler
                               void(tool_finished), // from a worker thread
                               void(cancel_job),    // stop waiting for a job; it is asked to stop
                               void(tick)>;         // a deadline may have come

// The actor behind an engine that make_engine made, for programs that use CAF themselves; a null handle for another one.
// It is gone when the engine ends, so do not keep it longer.
[[nodiscard]] sessions_handle engine_actor(engine& of);

} // namespace troupe::actors

#define TROUPE_LOCAL_MESSAGE(type) CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::actors::type)
TROUPE_LOCAL_MESSAGE(feed_input)
TROUPE_LOCAL_MESSAGE(begin_run)
TROUPE_LOCAL_MESSAGE(model_reply)
TROUPE_LOCAL_MESSAGE(permit_granted)
TROUPE_LOCAL_MESSAGE(tools_opened)
TROUPE_LOCAL_MESSAGE(agent_step)
TROUPE_LOCAL_MESSAGE(commands_wanted)
TROUPE_LOCAL_MESSAGE(start_run)
TROUPE_LOCAL_MESSAGE(steer_agents)
TROUPE_LOCAL_MESSAGE(answer_question)
TROUPE_LOCAL_MESSAGE(cancel_agents)
TROUPE_LOCAL_MESSAGE(tick)
TROUPE_LOCAL_MESSAGE(activity_taken)
TROUPE_LOCAL_MESSAGE(stop_actor)
TROUPE_LOCAL_MESSAGE(work_done)
TROUPE_LOCAL_MESSAGE(supervisor_idle)
TROUPE_LOCAL_MESSAGE(drain)
TROUPE_LOCAL_MESSAGE(drained)
TROUPE_LOCAL_MESSAGE(query_tasks)
TROUPE_LOCAL_MESSAGE(await_quiet)
TROUPE_LOCAL_MESSAGE(suspend_session)
TROUPE_LOCAL_MESSAGE(work_begun)
TROUPE_LOCAL_MESSAGE(supervisor_leaves)
TROUPE_LOCAL_MESSAGE(session_read)
TROUPE_LOCAL_MESSAGE(log_written)
TROUPE_LOCAL_MESSAGE(read_session)
TROUPE_LOCAL_MESSAGE(write_log)
TROUPE_LOCAL_MESSAGE(close_session)
TROUPE_LOCAL_MESSAGE(commit_writes)
TROUPE_LOCAL_MESSAGE(activity_message)
TROUPE_LOCAL_MESSAGE(pieces_ready)
TROUPE_LOCAL_MESSAGE(snapshot_request)
TROUPE_LOCAL_MESSAGE(snapshot_reply)
TROUPE_LOCAL_MESSAGE(watch_partials)
TROUPE_LOCAL_MESSAGE(query_changes)
TROUPE_LOCAL_MESSAGE(query_events)
TROUPE_LOCAL_MESSAGE(query_vitals)
TROUPE_LOCAL_MESSAGE(permit_request)
TROUPE_LOCAL_MESSAGE(permit_due)
TROUPE_LOCAL_MESSAGE(place_free)
TROUPE_LOCAL_MESSAGE(run_job)
TROUPE_LOCAL_MESSAGE(tool_finished)
TROUPE_LOCAL_MESSAGE(cancel_job)
