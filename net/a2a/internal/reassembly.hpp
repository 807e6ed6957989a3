// Puts an answer together from the items of a stream: what was said on the way, the artifacts, the state of the task.
//
// Pure; not thread-safe. Items of another task or context than the first one's are passed over. Streamed pieces come from
// the items themselves, never from a comparison of whole texts: they are what an item adds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/a2a/internal/values.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net::a2a {

struct reassembly_limits {
  std::size_t max_bytes = std::size_t{8} << 20; // of all text that is kept
  std::size_t max_artifacts = 256;
  std::size_t max_messages = 4096; // status messages and messages
};

class reassembly {
 public:
  explicit reassembly(reassembly_limits limits = {}) : limits_(limits) {}
  // Goes on with a task that is known: items of others are passed over from the start.
  reassembly(std::string context, std::string task, reassembly_limits limits = {})
      : limits_(limits), context_(std::move(context)), task_(std::move(task)) {}

  // Fails with too_large at a limit; then nothing more is taken.
  [[nodiscard]] status take(const stream_item& item);
  // The pieces that came since the last call: artifacts and messages as text, status messages as thoughts.
  [[nodiscard]] std::vector<model_chunk> take_chunks() { return std::exchange(chunks_, {}); }

  // Nothing has come that could be an answer or tell of a task.
  [[nodiscard]] bool empty() const noexcept { return items_ == 0; }
  [[nodiscard]] bool has_task() const noexcept { return !task_.empty(); }
  // A message came that belongs to no task: it is the whole answer.
  [[nodiscard]] bool has_message() const noexcept { return has_message_; }
  [[nodiscard]] task_state state() const noexcept { return state_; }
  [[nodiscard]] const std::string& context() const noexcept { return context_; }
  [[nodiscard]] const std::string& task_id() const noexcept { return task_; }

  // The answer: messages, then artifacts, under their names when there are several. Without any, what the last status or
  // the history says of a task that has ended.
  [[nodiscard]] std::string result_text() const;
  // What was told on the way, but for what stands in result_text().
  [[nodiscard]] std::string progress_text() const;
  // What the last status says: the question of an interrupted task, the reason of one that failed.
  [[nodiscard]] const std::string& status_text() const noexcept { return status_text_; }

 private:
  struct kept_artifact {
    std::string id;
    std::string name;
    std::string text;
  };

  [[nodiscard]] bool belongs(const std::string& task, const std::string& context);
  void on(const task& t);
  void on(const message& m);
  void on(const status_update& u);
  void on(const artifact_update& u);
  void take_status(const task_status& s);
  void store(const artifact& a, bool append);
  void say(std::vector<std::string>& log, std::string text, bool thought);
  bool grow(std::size_t bytes);
  [[nodiscard]] std::string artifacts_text() const;
  [[nodiscard]] bool status_is_result() const;

  reassembly_limits limits_;
  std::string context_;
  std::string task_;
  task_state state_ = task_state::unknown;
  std::vector<std::string> progress_; // of status messages
  std::vector<std::string> messages_;
  std::vector<kept_artifact> artifacts_; // in the order in which they were first seen
  std::string status_text_;
  std::string history_text_; // the last message of the agent in a snapshot
  std::vector<model_chunk> chunks_;
  std::size_t items_ = 0;
  std::size_t bytes_ = 0;
  bool has_message_ = false;
  bool too_large_ = false;
};

} // namespace troupe::net::a2a
