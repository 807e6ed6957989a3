// What one agent has done lately, as a bounded list of items: its thoughts, troubles and tool calls.
//
// A call that runs is never dropped; of those that have ended the newest are kept. Each item ends: a call with its result,
// at the latest with its agent. Lists of successive events merge to the list of all of them.
//
// Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/activity_item.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace troupe {

class recent_items {
 public:
  static constexpr std::size_t keep_ended = 8;
  static constexpr std::size_t content_bytes = 400; // of an item; longer texts are cut
  static constexpr std::size_t args_bytes = 1000;   // likewise

  // The next event of the agent.
  void add(const event& e);

  // The items of later events.
  void merge(recent_items&& later);

  // The oldest first.
  [[nodiscard]] const std::vector<activity_item>& items() const noexcept { return items_; }

 private:
  struct loose_end {
    std::string id;
    activity_status status;
    timestamp at;
  };

  bool end(const std::string& id, activity_status how, timestamp at);
  void end_all(activity_status how, timestamp at);
  void trim();

  std::vector<activity_item> items_;
  std::vector<loose_end> ends_; // of calls that began before the first event; merge gives them to those
  std::optional<loose_end> all_ended_; // the agent's end, likewise
};

} // namespace troupe
