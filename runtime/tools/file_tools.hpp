// The file tools: read_file, write_file, edit_file, list_directory, glob and grep_search, rooted in a workspace.
//
// What list_directory, glob and grep_search give back is JSON text; read_file gives the text of the file. Paths in
// results are relative to the workspace, sorted bytewise. A file with a NUL byte near its beginning is binary: its bytes
// and lines are counted, but it is not searched. `lines` counts newlines, as `wc -l` does.
//
// An agent may change only what it knows: edit_file wants that the agent has read the file, and edit_file and
// write_file fail with file_changed when the content is not what this agent last read or wrote (agent_notes).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/tool.hpp>
#include <troupe/runtime/tools/workspace.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace troupe::tools {

// Fails with not_found when the root is no folder. The tools share the workspace and may be called on any thread.
[[nodiscard]] result<std::vector<tool_ptr>> file_tools(const std::filesystem::path& workspace_root,
                                                       const file_limits& limits = {});
[[nodiscard]] std::vector<tool_ptr> file_tools(std::shared_ptr<const workspace> root);

} // namespace troupe::tools
