// One who follows a runtime as a page does: ten times a second what has changed in the tree and the newest events, once a
// second the figures; all made into the text that would be sent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/engine.hpp>

#include <cstdint>
#include <thread>

namespace troupe::bench {

class follower {
 public:
  // Follows until it is destroyed; `of` outlives it.
  explicit follower(engine& of);
  ~follower();
  follower(const follower&) = delete;
  follower& operator=(const follower&) = delete;

  // Ends, and gives the bytes of text that were made.
  std::uint64_t stop();

 private:
  void follow(const std::stop_token& stop);

  engine& engine_;
  std::uint64_t bytes_ = 0;
  std::jthread thread_;
};

} // namespace troupe::bench
