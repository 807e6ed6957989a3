// A profile with the tools that an agent's offers have now.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/agent_profile.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

struct extended_profile {
  agent_profile_ptr profile;         // never null
  std::vector<std::string> warnings; // tools that were left out, and why
};

// `base` with these tools, also in the pool of agents that it may make up. A tool whose name is taken or whose schema cannot
// be used is left out. Pure.
[[nodiscard]] extended_profile extend_profile(const agent_profile_ptr& base,
                                              const std::vector<tool_ptr>& tools);

// Extended profiles of one profile, so that ten thousand agents with the same tools share one. Keeps the last one.
// Thread-safe.
class profile_extensions {
 public:
  [[nodiscard]] extended_profile get(const agent_profile_ptr& base, const std::vector<tool_ptr>& tools);

 private:
  std::mutex mutex_;
  std::vector<tool_ptr> tools_;
  agent_profile_ptr profile_; // null: none was made yet
  std::vector<std::string> warnings_;
};

// The tools of an agent's offers, as long as the agent lives. Sources that belong to it alone end with this object.
// Not thread-safe, but for the callback.
class opened_offers {
 public:
  explicit opened_offers(const std::vector<tool_offer>& offers);

  struct found_tools {
    std::vector<tool_ptr> tools;
    std::vector<std::string> warnings; // sources that cannot be used, and names that mean nothing
  };
  // Asks all sources at once; `done` is called once, on any thread, possibly before this returns, when the last one has
  // answered.
  void open(std::function<void(found_tools)> done);

  // A source has other tools than when it was last asked.
  [[nodiscard]] bool changed() const noexcept;

 private:
  struct source {
    std::shared_ptr<tool_source> from;
    std::vector<std::string> names;
    std::uint64_t version = 0;
  };
  std::vector<source> sources_;
};

} // namespace troupe
