// The tool `environment`: commands of agents in a sandbox.
//
// With bubblewrap a command sees the system's programs read-only, the workspace as /workspace, an empty /tmp and nothing
// else: no other files, no other processes, no network unless it is allowed, no environment of ours. Whatever it leaves
// running ends with it. Memory and processes are counted ten times a second and at each limit the whole is killed; each
// process has limits of its own besides. Where the kernel refuses namespaces open() fails: nothing runs with less than was
// asked for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/sandbox_options.hpp>
#include <troupe/runtime/tool.hpp>

#include <memory>
#include <utility>

namespace troupe::net {

class io_pool;
class command_table;

// The pool outlives the sandbox; the tool may outlive both, and its calls fail then. Thread-safe.
class command_sandbox {
 public:
  // Tries it first, which blocks for some milliseconds. The backend is not none. Fails with bad_config: the message says
  // what is missing.
  [[nodiscard]] static result<std::unique_ptr<command_sandbox>> open(io_pool& pool, sandbox_options options);
  // Ends the commands that run.
  ~command_sandbox();
  command_sandbox(const command_sandbox&) = delete;
  command_sandbox& operator=(const command_sandbox&) = delete;

  [[nodiscard]] const tool_ptr& tool() const noexcept { return tool_; }

 private:
  command_sandbox(std::shared_ptr<command_table> table, tool_ptr tool) noexcept
      : table_(std::move(table)), tool_(std::move(tool)) {}
  std::shared_ptr<command_table> table_;
  tool_ptr tool_;
};

} // namespace troupe::net
