// The port to places that tools come from while the program runs, such as MCP servers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/tool.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

// Thread-safe. Destroying a source ends what it started (a process, a connection); its tools fail from then on.
class tool_source {
 public:
  virtual ~tool_source() = default;

  // For messages: "files".
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;

  // Gives the tools as they are now; the first call starts what the source needs. `done` is called once, on any thread,
  // possibly before open() returns, and at the latest after the source's own time limit. A source that has failed
  // tries again when it is asked again, after a growing pause in which it fails at once.
  virtual void open(std::function<void(result<std::vector<tool_ptr>>)> done) = 0;

  // Rises whenever the tools have changed, or may have. Cheap: agents ask before each model call.
  [[nodiscard]] virtual std::uint64_t version() const noexcept = 0;
};

// A source that an agent takes tools from. With `make`, which never blocks, each instance of the agent has one of its own,
// which ends with it; otherwise all share one.
struct tool_offer {
  std::shared_ptr<tool_source> shared{};
  std::function<std::shared_ptr<tool_source>()> make{};
  std::vector<std::string> names{}; // which of its tools, by name or wildcard; empty: all
};

} // namespace troupe
