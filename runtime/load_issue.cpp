// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/load_issue.hpp>

#include <algorithm>

namespace troupe {

std::string to_string(const load_issue& issue) {
  auto text = issue.file;
  if (issue.line > 0)
    text += ":" + std::to_string(issue.line);
  if (!text.empty())
    text += ": ";
  if (!issue.is_error)
    text += "warning: ";
  if (!issue.key.empty())
    text += issue.key + ": ";
  return text + issue.message;
}

bool has_errors(const std::vector<load_issue>& issues) noexcept {
  return std::any_of(issues.begin(), issues.end(), [](const load_issue& issue) { return issue.is_error; });
}

std::string join_issues(const std::vector<load_issue>& issues, bool only_errors) {
  std::string text;
  for (const auto& issue : issues)
    if (issue.is_error || !only_errors)
      text += (text.empty() ? "" : "\n") + to_string(issue);
  return text;
}

} // namespace troupe
