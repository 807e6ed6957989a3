// The tree of agents in a terminal, while they work.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace troupe::cli {

struct tree_size {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// The lines of the tree: one an agent, those that run first, and a line that counts the rest when they are more than
// fit. No line is wider than the terminal. `colour` adds ANSI colours. Pure.
[[nodiscard]] std::vector<std::string> draw_tree(const session_activity& session, timestamp now,
                                                 const tree_size& size, bool colour);

// Draws on stderr in place: each picture replaces the last. One owner.
class live_tree {
 public:
  live_tree() = default;
  // Takes the picture away.
  ~live_tree() { clear(); }
  live_tree(const live_tree&) = delete;
  live_tree& operator=(const live_tree&) = delete;

  void show(const session_activity& session);
  void clear();

 private:
  std::size_t lines_ = 0; // of the picture that stands on the screen
};

} // namespace troupe::cli
