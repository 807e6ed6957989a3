// A session, as the program that owns its runtime sees it: one conversation with a root agent, over all its runs.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/run.hpp>
#include <troupe/runtime/ports/engine.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

class runtime_core;

// A handle; copyable, thread-safe, does not keep the runtime alive. What fails for want of a runtime says shutting_down.
class session {
 public:
  session(std::weak_ptr<runtime_core> core, session_id id) : core_(std::move(core)), id_(std::move(id)) {}

  [[nodiscard]] const session_id& id() const noexcept { return id_; }

  // Calls `callback` for each run that results of background work set in motion, from now on, on the runtime's
  // dispatcher thread.
  void on_run(std::function<void(run)> callback);

  // A hint to the root and every child that runs, or to one agent. Waits until it is stored.
  status steer(std::string text, const std::string& agent = {});
  // Answers a question. Waits until the answer is stored.
  status answer(const std::string& question_id, nlohmann::json value);

  // Background work that goes on or has ended not long ago, in the order in which it was started.
  [[nodiscard]] result<std::vector<background_task>> background();
  status cancel_background(const std::string& task_id);

  // Ends the run that is under way, those that wait, and background work.
  void cancel(std::string by = "user");

  // Waits until no run and no background work is under way; false when that takes longer than `limit`.
  [[nodiscard]] bool wait_quiet(std::chrono::milliseconds limit);

  // Stops all that runs without an end in the log, so that it can be resumed. Waits until the log is durable, at most
  // `limit`.
  bool suspend(std::chrono::milliseconds limit = std::chrono::seconds{10});

 private:
  std::weak_ptr<runtime_core> core_;
  session_id id_;
};

} // namespace troupe
