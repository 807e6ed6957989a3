// What was found wrong while a file was loaded.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace troupe {

// A warning leaves the file usable. `line` counts from 1; 0 when the issue concerns the file as a whole.
struct load_issue {
  bool is_error = true;
  std::string file;
  std::size_t line = 0;
  std::string key; // "limits.timeout"; empty when no key is concerned
  std::string message;

  friend bool operator==(const load_issue&, const load_issue&) = default;
};

// "agents/critic.md:4: max_turns: expected …"
[[nodiscard]] std::string to_string(const load_issue& issue);

[[nodiscard]] bool has_errors(const std::vector<load_issue>& issues) noexcept;

// The errors (or all issues) one a line.
[[nodiscard]] std::string join_issues(const std::vector<load_issue>& issues, bool only_errors = true);

} // namespace troupe
