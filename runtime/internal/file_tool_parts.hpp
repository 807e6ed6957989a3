// The file tools one by one; file_tools() puts them together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/tool.hpp>
#include <troupe/runtime/tools/workspace.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace troupe::internal {

using workspace_ptr = std::shared_ptr<const workspace>;

inline constexpr std::chrono::milliseconds file_timeout = std::chrono::seconds{30};
inline constexpr std::chrono::milliseconds walk_timeout = std::chrono::seconds{120};

[[nodiscard]] tool_ptr make_read_file(const workspace_ptr& root);
[[nodiscard]] tool_ptr make_write_file(const workspace_ptr& root);
[[nodiscard]] tool_ptr make_edit_file(const workspace_ptr& root);
[[nodiscard]] tool_ptr make_list_directory(const workspace_ptr& root);
[[nodiscard]] tool_ptr make_glob(const workspace_ptr& root);
[[nodiscard]] tool_ptr make_grep_search(const workspace_ptr& root);

[[nodiscard]] tool_result failed(const error& e);

// A NUL byte near the beginning.
[[nodiscard]] bool is_binary(std::string_view text) noexcept;
[[nodiscard]] std::size_t count_lines(std::string_view text) noexcept;

// `*` and `?` stay within a folder, `**` crosses folders ("**/" also stands for none).
[[nodiscard]] bool path_glob(std::string_view pattern, std::string_view path) noexcept;

} // namespace troupe::internal
