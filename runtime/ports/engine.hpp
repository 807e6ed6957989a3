// The port through which servers, the command line and embedding programs reach the agents.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/agent_profile.hpp>
#include <troupe/runtime/run_feed.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

enum class on_busy : std::uint8_t { wait, reject };

struct run_request {
  session_id session;
  agent_profile_ptr root;
  content_ptr message;
  run_limits limits{};
  bool answerable = false;      // somebody answers questions
  on_busy busy = on_busy::wait; // another run of the session is under way
};

// Streamed pieces, shown while somebody watches. Called on an actor's thread: short, and never blocks.
using partial_sink = std::function<void(const partial&)>;

// Thread-safe. Nothing here blocks except snapshot() and shutdown(), which have a bound.
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

  // Cancels the run that is under way (and those that wait) in a session, or one agent of it.
  virtual void cancel(const session_id& session, std::optional<agent_id> agent, std::string by) = 0;

  // Streamed pieces of a session go to `sink` until the returned object is destroyed.
  [[nodiscard]] virtual std::shared_ptr<void> watch(const session_id& session, partial_sink sink) = 0;

  // The live tree, of all sessions or of one. Waits at most a second, then fails with `timeout`.
  [[nodiscard]] virtual result<activity_snapshot> snapshot(std::optional<session_id> session) = 0;

  [[nodiscard]] virtual std::shared_ptr<session_store> store() const = 0;

  // Refuses new work, cancels what runs and waits until it has ended, at most `limit`. Gives the names of what still
  // ran then. Afterwards every start fails with shutting_down.
  virtual std::vector<std::string> shutdown(std::chrono::milliseconds limit) = 0;
};

} // namespace troupe
