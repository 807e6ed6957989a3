// The port through which servers, the command line and embedding programs reach the agents.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/agent_profile.hpp>
#include <troupe/runtime/model_admission.hpp>
#include <troupe/runtime/run_feed.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class on_busy : std::uint8_t { wait, reject };

// What becomes of work at shutdown. suspend: it stops without an end in the log, and can be resumed from a store that
// outlives the process.
enum class shutdown_mode : std::uint8_t { cancel, wait, suspend };

struct given_answer {
  call_id question;
  nlohmann::json value;
};

struct run_request {
  session_id session{};
  agent_profile_ptr root{};
  content_ptr message{}; // null: goes on with what an earlier process left unfinished in the session
  run_limits limits{};
  bool answerable = false;      // somebody answers questions
  on_busy busy = on_busy::wait; // another run of the session is under way
  // Ends with `needs_input` when nothing can go on without an answer; the run can be resumed and answered later.
  bool suspend_on_question = false;
  std::chrono::milliseconds question_timeout =
      std::chrono::hours{24 * 7}; // then a question counts as not answered
  on_background_result background = on_background_result::wake;
  // Runs that results of background work set in motion. Called on an actor's thread: short, and never blocks.
  std::function<void(std::shared_ptr<run_feed>)> on_woken_run{};
  std::string user = "local";          // whose `user:` keys a new session has
  std::string app{};                   // likewise
  bool take_over = false;              // from another process that has the session open
  std::uint32_t hops = 0;              // agents of other programs that stand above the run
  std::vector<given_answer> answers{}; // to questions of the run that is resumed
};

enum class task_status : std::uint8_t { queued, running, completed, failed, cancelled };

[[nodiscard]] constexpr std::string_view to_string(task_status s) noexcept {
  constexpr std::array<std::string_view, 5> names = {"queued", "running", "completed", "failed", "cancelled"};
  return names[static_cast<std::size_t>(s)];
}

// A job that an agent does in the background.
struct background_task {
  call_id task;
  std::string name;
  std::string model;
  task_status status = task_status::queued;
  std::optional<outcome> ended; // once it is terminal; it never changes then
  bool delivered = false;       // the root has the result
};

// Streamed pieces, shown while somebody watches. Called on an actor's thread: short, and never blocks.
using partial_sink = std::function<void(const partial&)>;

// Thread-safe. Nothing here blocks except snapshot() and shutdown(), which have a bound. Callbacks are called once, on
// any thread; they are short and never block.
class engine {
 public:
  virtual ~engine() = default;

  // Starts a run; `feed` follows it. What goes wrong ends the feed with a failed outcome.
  virtual void start(run_request request, std::shared_ptr<run_feed> feed) = 0;

  // A hint to the root and every child of the session, or to one agent. `done` is called once, on any thread, when the
  // hint is stored (durable), or with the reason why it is not.
  virtual void steer(const session_id& session, std::optional<agent_id> agent, std::string text,
                     std::string by, std::function<void(status)> done) = 0;

  // Answers a question.
  virtual void answer(const session_id& session, const call_id& question, nlohmann::json value,
                      std::string by, std::function<void(status)> done) = 0;

  // Cancels the run that is under way and those that wait in a session, or one agent of it; with its root agent the run
  // ends, and those that wait go on. Background work goes on, unless `background` is set.
  virtual void cancel(const session_id& session, std::optional<agent_id> agent, std::string by,
                      bool background = false) = 0;

  // The background work of a session that runs or was not long ago; with `cancel`, that task is cancelled first.
  virtual void tasks(const session_id& session, std::optional<call_id> cancel, std::string by,
                     std::function<void(result<std::vector<background_task>>)> done) = 0;

  // Calls `done` once the session has no run, no background work, and no result that will wake it.
  virtual void when_quiet(const session_id& session, std::function<void()> done) = 0;

  // Stops a session without an end in its log: it can be resumed. `done` is called when its log is durable.
  virtual void suspend(const session_id& session, std::function<void()> done) = 0;

  // Streamed pieces of a session go to `sink` until the returned object is destroyed.
  [[nodiscard]] virtual std::shared_ptr<void> watch(const session_id& session, partial_sink sink) = 0;

  // The live tree, of all sessions or of one. Waits at most a second, then fails with `timeout`.
  [[nodiscard]] virtual result<activity_snapshot> snapshot(std::optional<session_id> session) = 0;

  // What has changed in the live tree since query.since; everything when that is 0 or too long ago. Whoever follows the
  // tree asks again when it has shown the answer, so that one that is slow costs nothing. Where the runtime has ended the
  // answer is null.
  virtual void changes(activity_query query,
                       std::function<void(std::shared_ptr<const activity_changes>)> done) = 0;

  // Stored events of all sessions that came after query.after, from a ring that is filled while somebody asks (and for a
  // while after). An event that is missed is in the store. Null as above.
  virtual void recent(event_query query, std::function<void(std::shared_ptr<const recent_events>)> done) = 0;

  // How the whole is doing. Null as above.
  virtual void vitals(std::function<void(std::shared_ptr<const activity_vitals>)> done) = 0;

  [[nodiscard]] virtual std::shared_ptr<session_store> store() const = 0;

  // How each model is doing, by catalogue id.
  [[nodiscard]] virtual std::map<std::string, model_status> models() const = 0;

  // Refuses new work, does what `mode` says with what runs and waits until it has ended, at most `limit`. Gives the
  // names of what still ran then. Afterwards every start fails with shutting_down.
  virtual std::vector<std::string> shutdown(std::chrono::milliseconds limit,
                                            shutdown_mode mode = shutdown_mode::cancel) = 0;
};

} // namespace troupe
