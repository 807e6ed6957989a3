// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/file_tool_parts.hpp>
#include <troupe/runtime/tools/file_tools.hpp>

namespace troupe::tools {

result<std::vector<tool_ptr>> file_tools(const std::filesystem::path& workspace_root,
                                         const file_limits& limits) {
  auto root = workspace::open(workspace_root, limits);
  if (!root)
    return root.failure();
  return file_tools(*root);
}

std::vector<tool_ptr> file_tools(std::shared_ptr<const workspace> root) {
  return {internal::make_read_file(root), internal::make_write_file(root),
          internal::make_edit_file(root), internal::make_list_directory(root),
          internal::make_glob(root),      internal::make_grep_search(root)};
}

} // namespace troupe::tools
