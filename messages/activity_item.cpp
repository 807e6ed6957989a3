// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/activity_item.hpp>

#include <array>

namespace troupe {

std::string_view to_string(activity_type t) noexcept {
  return t == activity_type::thought ? "thought" : "tool_call";
}

std::string_view to_string(activity_status s) noexcept {
  static constexpr std::array<std::string_view, 4> names = {"running", "completed", "error", "cancelled"};
  return names[static_cast<std::size_t>(s)];
}

void to_json(nlohmann::json& j, const activity_item& item) {
  j = {{"id", item.id},
       {"type", to_string(item.type)},
       {"content", item.content},
       {"status", to_string(item.status)}};
  if (!item.display_name.empty())
    j["displayName"] = item.display_name;
  if (!item.description.empty())
    j["description"] = item.description;
  if (!item.args.empty())
    j["args"] = item.args;
}

void to_json(nlohmann::json& j, const agent_progress& progress) {
  j = {{"isSubagentProgress", true},
       {"agentName", progress.agent_name},
       {"recentActivity", progress.recent_activity},
       {"state", to_string(progress.state)}};
  if (progress.result)
    j["result"] = *progress.result;
  if (progress.terminate_reason)
    j["terminateReason"] = *progress.terminate_reason;
}

} // namespace troupe
