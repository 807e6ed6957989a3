// What one agent has done lately, as a bounded list of items: its thoughts, troubles and tool calls.
//
// A call that runs is never dropped; of those that have ended the newest are kept. Each item ends: a call with its result,
// at the latest with its agent. Lists of successive events merge to the list of all of them. A root may have thousands of
// calls that run, so each step takes the same time however many there are.
//
// Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe {

class recent_items {
 public:
  static constexpr std::size_t keep_ended = 8;
  // Longer texts of an item are cut.
  static constexpr std::size_t content_bytes = shown_lengths::content + shown_lengths::beyond;
  static constexpr std::size_t args_bytes = shown_lengths::args + shown_lengths::beyond;

  // The next event of the agent.
  void add(const event& e);

  // A call that runs.
  void begin(const call_id& call, const std::string& name, std::string_view arguments, timestamp at);

  // The items of later events. Ends of calls that are not known are forgotten.
  void merge(recent_items&& later);

  // The oldest first.
  [[nodiscard]] std::vector<activity_item> items() const;

  // How many run, and the oldest of them; null when none does.
  [[nodiscard]] std::size_t running() const noexcept { return running_.size(); }
  [[nodiscard]] const activity_item* oldest_running() const noexcept;

 private:
  struct entry {
    activity_item item;
    std::uint64_t order = 0; // of its beginning
  };
  struct ending {
    activity_status status;
    timestamp at;
  };
  struct loose_end {
    std::string id;
    ending how;
  };
  using index = std::unordered_map<std::string, std::size_t>; // places in running_

  void begin(activity_item item);
  void keep(entry ended);
  [[nodiscard]] std::size_t find(const std::string& id) const;
  entry take(std::size_t position);
  void end(const std::string& id, const ending& how);
  void end_all(const ending& how);

  std::vector<entry> running_;      // in no order
  std::unique_ptr<index> index_;    // once it is long
  std::vector<entry> ended_;        // at most keep_ended; a ring in the order of their ends
  std::size_t oldest_ = 0;          // of ended_
  std::vector<loose_end> ends_;     // of calls that began before the first event; merge gives them to those
  std::optional<ending> all_ended_; // the agent's end, likewise
  std::uint64_t next_ = 0;
};

} // namespace troupe
