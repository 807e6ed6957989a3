// The todo list of an agent: a tool that replaces it, and its text at the end of each request.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/tool.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace troupe::tools {

// The key under which the list is kept in the agent's state.
inline constexpr const char* todo_key = "todo";

// Tool `todo {items: [{text, status}]}`: status is pending, in_progress, completed or cancelled; at most one item is in
// progress. The result carries the list as a write of state `todo`; it replaces the old one.
[[nodiscard]] tool_ptr todo();

// The list as lines ("[x] Read the code", "[>] …", "[ ] …", "[-] …"), or an empty text when there is none.
[[nodiscard]] std::string render_todo(const nlohmann::json& items);

} // namespace troupe::tools
