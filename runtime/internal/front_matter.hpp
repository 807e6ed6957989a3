// Files that are YAML between two `---` lines and then a text: agents, skills. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::internal {

struct front_matter {
  std::string_view front; // the YAML; begins in line 2
  std::string_view body;
  std::size_t body_line = 1;
  std::string problem{}; // why the file is not of this form; empty: it is
};

// The views lie in `text`. `body_name` is for the message: "the instruction".
[[nodiscard]] front_matter split_front_matter(std::string_view text, std::string_view body_name);

// The body without blank space around it and with plain line ends; `line` moves to where it begins.
[[nodiscard]] std::string trimmed_body(std::string_view body, std::size_t& line);

} // namespace troupe::internal
