// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace troupe {

namespace {

constexpr std::size_t max_compared = 64;
constexpr std::size_t max_name = 128;

bool is_name(std::string_view text) noexcept {
  auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == ':';
  };
  return !text.empty() && text.size() <= max_name && std::all_of(text.begin(), text.end(), fits);
}

bool entry_selects(std::string_view entry, std::string_view name) noexcept {
  if (!is_wildcard(entry))
    return entry == name;
  return is_valid_tool_entry(entry) && name.starts_with(entry.substr(0, entry.size() - 1));
}

// Optimal string alignment in three rows.
std::size_t edit_distance(std::string_view a, std::string_view b) noexcept {
  std::array<std::array<std::size_t, max_compared + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j)
    rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& up = rows[(i + 2) % 3];
    const auto& up_up = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], up_up[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

} // namespace

bool is_wildcard(std::string_view entry) noexcept {
  return entry.find('*') != std::string_view::npos;
}

bool is_valid_tool_entry(std::string_view entry) noexcept {
  if (!is_wildcard(entry))
    return is_name(entry);
  if (entry == "*" || entry == "mcp_*")
    return true;
  return entry.starts_with("mcp_") && entry.ends_with("_*") && entry.size() > 6 &&
         is_name(entry.substr(0, entry.size() - 1));
}

tool_selection select_tools(std::span<const std::string> entries, std::span<const std::string> available) {
  tool_selection selection;
  for (const auto& name : available) {
    auto selects = [&](const std::string& entry) { return entry_selects(entry, name); };
    auto taken = std::find(selection.names.begin(), selection.names.end(), name) != selection.names.end();
    if (!taken && std::any_of(entries.begin(), entries.end(), selects))
      selection.names.push_back(name);
  }
  for (const auto& entry : entries) {
    auto selected = [&](const std::string& name) { return entry_selects(entry, name); };
    if (std::none_of(available.begin(), available.end(), selected))
      selection.unmatched.push_back(entry);
  }
  return selection;
}

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  if (name.empty() || name.size() > max_compared)
    return std::nullopt;
  const std::string* best = nullptr;
  auto best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    if (candidate.empty() || candidate.size() > max_compared)
      continue;
    auto distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best ? std::optional{*best} : std::nullopt;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  auto nearest = nearest_name(name, candidates);
  return nearest ? " Did you mean \"" + *nearest + "\"?" : std::string{};
}

std::string list_names(std::span<const std::string> names, std::size_t at_most) {
  if (names.empty())
    return "none";
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < at_most; ++i)
    out += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
  if (names.size() > at_most)
    out += " and " + std::to_string(names.size() - at_most) + " more";
  return out;
}

} // namespace troupe
