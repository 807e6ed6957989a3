// What an agent does as a person follows it: the activity value that other agent systems show as well.
//
// The JSON form of `agent_progress` is that of Gemini CLI's subagent progress: camelCase, `isSubagentProgress`.
// Values; the texts are raw, and the surface that shows them masks them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class activity_type : std::uint8_t { thought, tool_call };
enum class activity_status : std::uint8_t { running, completed, error, cancelled };

[[nodiscard]] std::string_view to_string(activity_type t) noexcept;
[[nodiscard]] std::string_view to_string(activity_status s) noexcept;

struct activity_item {
  std::string id; // a tool call's call id; of a thought its event's id
  activity_type type = activity_type::thought;
  std::string content; // the thought, or the tool's name
  std::string display_name{};
  std::string description{};
  std::string args{}; // JSON text of a tool call
  activity_status status = activity_status::running;
  timestamp at{};
  timestamp ended_at{}; // zero while it runs

  friend bool operator==(const activity_item&, const activity_item&) = default;
};

// The progress of one agent.
struct agent_progress {
  std::string agent_name;
  std::vector<activity_item> recent_activity; // the oldest first
  activity_status state = activity_status::running;
  std::optional<std::string> result{};
  std::optional<std::string> terminate_reason{};
};

void to_json(nlohmann::json& j, const activity_item& item);
void to_json(nlohmann::json& j, const agent_progress& progress);

} // namespace troupe
