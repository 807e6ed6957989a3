// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/telemetry/metric_labels.hpp>

namespace troupe {

std::string tool_label(std::string_view name) {
  if (name.empty())
    return "(others)";
  return std::string{utf8_prefix(sanitize_text(valid_utf8(name)), max_label_bytes)};
}

std::map<std::string, tool_activity> labelled_tools(const std::map<std::string, tool_activity>& tools) {
  std::map<std::string, tool_activity> out;
  for (const auto& [name, tool] : tools)
    out[tool_label(name)] += tool;
  return out;
}

} // namespace troupe
