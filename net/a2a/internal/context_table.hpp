// Conversations with a remote agent that can be gone on with: the last one of each session that has ended.
//
// A call takes the id out while it uses it, so a call at the same time gets a conversation of its own. Bounded: the least
// recently used go first. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace troupe::net::a2a {

class context_table {
 public:
  explicit context_table(std::size_t max_entries) : max_entries_(max_entries) {}

  [[nodiscard]] std::optional<std::string> take(const std::string& session) {
    std::lock_guard lock{mutex_};
    const auto found = places_.find(session);
    if (found == places_.end())
      return std::nullopt;
    auto context = std::move(found->second->second);
    entries_.erase(found->second);
    places_.erase(found);
    return context;
  }

  // The last one that is put counts.
  void put(const std::string& session, std::string context) {
    if (context.empty() || max_entries_ == 0)
      return;
    std::lock_guard lock{mutex_};
    if (const auto found = places_.find(session); found != places_.end()) {
      entries_.erase(found->second);
      places_.erase(found);
    }
    entries_.emplace_front(session, std::move(context));
    places_.emplace(session, entries_.begin());
    if (entries_.size() > max_entries_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
  }

  [[nodiscard]] std::size_t size() const {
    std::lock_guard lock{mutex_};
    return entries_.size();
  }

 private:
  using entry = std::pair<std::string, std::string>; // session, context
  const std::size_t max_entries_;
  mutable std::mutex mutex_;
  std::list<entry> entries_; // the most recently used first
  std::unordered_map<std::string, std::list<entry>::iterator> places_;
};

} // namespace troupe::net::a2a
