// Names of tools: wildcards in lists, globs in rules, and the nearest name for a typing error.
//
// Pure functions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

// What a list of names and wildcards stands for.
struct tool_selection {
  std::vector<std::string> names;     // in the order of the available names, each once
  std::vector<std::string> unmatched; // entries that stand for nothing
};

// Selects from `available`. An entry is an exact name, `*` (all), `mcp_*` (all tools of MCP servers) or
// `mcp_<server>_*`. A server's name may hold underscores, and then the wildcard of a server whose name is a
// beginning of it selects its tools too.
[[nodiscard]] tool_selection select_tools(std::span<const std::string> entries,
                                          std::span<const std::string> available);

// True for an entry with a star, whether or not its form is one that select_tools knows.
[[nodiscard]] bool is_wildcard(std::string_view entry) noexcept;

// True if `entry` may stand in a list: a name (letters, digits and "_-.:", at most 128), or a wildcard as
// above.
[[nodiscard]] bool is_valid_tool_entry(std::string_view entry) noexcept;

// True if `text` fits `pattern`, in which `*` stands for any characters and `?` for one. Linear in practice,
// at worst the product of the lengths.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text) noexcept;

// The candidate that `name` most likely means: at most a third of its characters differ (inserted, left out,
// replaced or swapped with the next). Nothing when none is that near. Names longer than 64 bytes are not
// compared.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string> candidates);

// " Did you mean \"read_file\"?", or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

// "\"a\", \"b\" and 3 more" or "none": for messages that list what there is.
[[nodiscard]] std::string list_names(std::span<const std::string> names, std::size_t at_most = 12);

} // namespace troupe
