// Runs as A2A tasks: what a task's run does becomes its states, its progress and its artifact, in one order that everybody
// who follows it sees.
//
// A task outlives the requests that ask for it. Bounds: so many tasks and bytes of them, so many updates and messages of
// each; of tasks the ones that ended longest ago go first.
//
// Thread-safe. Callbacks are called without a lock, on the thread that made the change (an actor's, as a rule): they are
// short and never block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/net/a2a/internal/values.hpp>
#include <troupe/net/server/internal/a2a_request.hpp>
#include <troupe/runtime/run_feed.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::net {

// The state of a task whose run ended so. The one table: docs/remote-agents.md has it in words. `begun`: the agent had taken
// the task up, so it was not refused.
[[nodiscard]] a2a::task_state state_of_outcome(const outcome& ended, bool begun) noexcept;

// "2026-11-30T19:00:00.000Z".
[[nodiscard]] std::string a2a_timestamp(timestamp at);

// What all tasks of a table have in common.
struct a2a_totals {
  std::atomic<std::uint64_t> clock{0}; // of changes
  std::atomic<std::size_t> bytes{0};   // that the tasks keep, about
};

class a2a_task : public std::enable_shared_from_this<a2a_task> {
 public:
  static constexpr std::size_t max_updates = 1024; // that are kept for those who follow
  static constexpr std::size_t max_update_bytes = std::size_t{8} << 20;
  static constexpr std::size_t max_history = 256; // messages
  static constexpr std::size_t max_history_bytes = std::size_t{1} << 20;

  a2a_task(std::string agent, session_id session, std::shared_ptr<a2a_totals> totals);
  ~a2a_task();
  a2a_task(const a2a_task&) = delete;
  a2a_task& operator=(const a2a_task&) = delete;

  const std::string agent;
  const session_id session;

  // Set once, before anybody else has the task.
  void set_id(std::string id) { id_ = std::move(id); }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  // A message of the client, for the history.
  void add_message(a2a::message said);
  // Takes what is new in the feed of its run. One call at a time. Throws nothing: it runs within the session.
  void follow(run_feed& feed);

  [[nodiscard]] a2a::task snapshot(std::optional<std::size_t> history, bool artifacts = true) const;
  [[nodiscard]] a2a::task_state state() const;
  // Its run has ended, whatever the state says: nothing more comes.
  [[nodiscard]] bool is_over() const;
  // Higher for a later change.
  [[nodiscard]] std::uint64_t turn() const;
  [[nodiscard]] timestamp changed_at() const;

  // The question that is open the longest.
  [[nodiscard]] std::optional<question_body> question() const;
  // It is being answered: the task works on, until the log says so too.
  void answering(const call_id& question);

  // What came after the first `from` updates; `from` moves on. Where some of that is no longer kept, the whole task.
  [[nodiscard]] std::vector<a2a::stream_item> updates(std::size_t& from) const;
  // The task as it is now, and the place in its updates that follows.
  [[nodiscard]] a2a::task begin_following(std::size_t& from) const;
  // Called after each change, and when another one is added, until it gives false.
  void on_change(std::function<bool()> callback);

 private:
  void take_news(run_feed& feed);
  void take(const event_batch& batch);
  void take(const event& e, bool calls_follow);
  void end(const outcome& ended);
  void ask_first();
  void close(const call_id& question);
  [[nodiscard]] a2a::task as_it_is(std::optional<std::size_t> history, bool artifacts) const;
  void set_state(a2a::task_state state, std::string text, nlohmann::json metadata);
  void push(a2a::stream_item item);
  void keep_message(a2a::message said);
  void count(std::size_t more, std::size_t less);
  void tell();

  std::string id_;
  const std::shared_ptr<a2a_totals> totals_;

  mutable std::mutex mutex_;
  a2a::task_status status_;
  timestamp changed_at_{};
  bool over_ = false;
  std::uint64_t turn_ = 0;
  std::uint64_t messages_ = 0; // of ours, for their ids
  std::vector<a2a::artifact> artifacts_;
  std::deque<std::pair<std::size_t, a2a::message>> history_; // with their bytes
  std::size_t history_bytes_ = 0;
  std::deque<std::pair<question_body, std::string>> questions_;  // with who asks; the first is told
  std::deque<std::pair<std::size_t, a2a::stream_item>> updates_; // likewise
  std::size_t update_bytes_ = 0;
  std::size_t bytes_ = 0;   // of all that is kept
  std::size_t dropped_ = 0; // updates that are no longer kept
  std::vector<std::shared_ptr<const std::function<bool()>>> listeners_;
};

// What tells the message that began a task from others: the agent, the context that it names, its id, and what it says.
[[nodiscard]] std::string a2a_message_key(const std::string& agent, const a2a::message& said);

class a2a_tasks {
 public:
  explicit a2a_tasks(std::size_t max_tasks, std::size_t max_bytes = std::size_t{256} << 20)
      : max_tasks_(max_tasks), max_bytes_(max_bytes) {}

  [[nodiscard]] std::shared_ptr<a2a_task> make(const std::string& agent, const session_id& session) const;
  // Keeps the task under its id, and under the key of the message that began it.
  void add(const std::shared_ptr<a2a_task>& task, const std::string& key);
  [[nodiscard]] std::shared_ptr<a2a_task> find(const std::string& agent, const std::string& id) const;
  // The task that a message has begun: then it comes again.
  [[nodiscard]] std::shared_ptr<a2a_task> begun_by(const std::string& key) const;

  struct page {
    std::vector<std::shared_ptr<a2a_task>> tasks; // the one that changed last first
    std::string next;                             // token of the next page; empty: none
    std::size_t total = 0;
  };
  [[nodiscard]] page list(const std::string& agent, const a2a_list_query& query) const;

 private:
  void forget();
  struct entry {
    std::shared_ptr<a2a_task> task;
    std::string key;
  };

  const std::size_t max_tasks_;
  const std::size_t max_bytes_;
  const std::shared_ptr<a2a_totals> totals_ = std::make_shared<a2a_totals>();
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entry> tasks_;
  std::unordered_map<std::string, std::string> by_message_; // key → task
  std::deque<std::string> order_;                           // the oldest first
};

} // namespace troupe::net
