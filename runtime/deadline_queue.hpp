// Deadlines of many agents in one ordered queue.
//
// A key has at most one deadline. A paused key keeps what was left of its time.
// Not thread-safe: the owner is one actor.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

template <class Key>
class deadline_queue {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  // Sets or moves the deadline of `key`.
  void set(const Key& key, time_point when) {
    clear(key);
    when_.emplace(key, when);
    order_.emplace(when, key);
  }

  void clear(const Key& key) {
    auto found = when_.find(key);
    if (found == when_.end())
      return;
    order_.erase({found->second, key});
    when_.erase(found);
  }

  // Takes the deadline of `key` out and gives what was left of it (at least zero), or nothing if it has none.
  std::optional<duration> take(const Key& key, time_point now) {
    auto found = when_.find(key);
    if (found == when_.end())
      return std::nullopt;
    auto left = found->second > now ? found->second - now : duration::zero();
    clear(key);
    return left;
  }

  [[nodiscard]] std::optional<time_point> earliest() const {
    return order_.empty() ? std::nullopt : std::optional{order_.begin()->first};
  }

  // Takes out the keys whose time has come, earliest first.
  std::vector<Key> due(time_point now) {
    std::vector<Key> keys;
    while (!order_.empty() && order_.begin()->first <= now) {
      keys.push_back(order_.begin()->second);
      when_.erase(order_.begin()->second);
      order_.erase(order_.begin());
    }
    return keys;
  }

  [[nodiscard]] std::size_t size() const noexcept { return when_.size(); }

 private:
  std::map<Key, time_point> when_;
  std::set<std::pair<time_point, Key>> order_;
};

} // namespace troupe
