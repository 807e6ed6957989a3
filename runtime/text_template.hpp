// Text with placeholders: "Review ${file} as of ${today}."
//
// A placeholder is `${`, a name out of letters, digits and underscores, and `}`. `$${` stands for a literal
// `${`; every other text stands for itself. Values are put in once: what looks like a placeholder within a
// value is left alone.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct placeholder {
  std::string name;
  std::size_t line = 1; // of its first use, from 1

  friend bool operator==(const placeholder&, const placeholder&) = default;
};

// Immutable once compiled; safe to use from many threads.
class text_template {
 public:
  [[nodiscard]] static text_template compile(std::string_view text);

  // Each name once, in the order of first use.
  [[nodiscard]] const std::vector<placeholder>& placeholders() const noexcept { return placeholders_; }

  [[nodiscard]] std::vector<placeholder> unknown(std::span<const std::string> available) const;

  // Fails with bad_definition when names are not available; the message lists them with their lines, what
  // there is, and the escape. `first_line` is the line of the file where the text begins.
  [[nodiscard]] status check(std::span<const std::string> available, std::size_t first_line = 1) const;

  // Fails with bad_definition when a value is missing.
  [[nodiscard]] result<std::string>
  render(const std::map<std::string, std::string, std::less<>>& values) const;

 private:
  struct part_of_text {
    std::string text;
    bool is_name = false;
  };
  std::vector<part_of_text> pieces_;
  std::vector<placeholder> placeholders_;
};

} // namespace troupe
