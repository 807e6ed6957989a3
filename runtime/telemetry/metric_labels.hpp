// What metrics call things whose names come from outside.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>

#include <map>
#include <string>
#include <string_view>

namespace troupe {

inline constexpr std::size_t max_label_bytes = 128;

// The name of a tool as a label: secrets masked, valid UTF-8, cut; "(others)" for those that are counted together.
[[nodiscard]] std::string tool_label(std::string_view name);

// The tools by their labels. Names that become the same add up.
[[nodiscard]] std::map<std::string, tool_activity>
labelled_tools(const std::map<std::string, tool_activity>& tools);

} // namespace troupe
