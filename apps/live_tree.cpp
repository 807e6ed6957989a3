// SPDX-License-Identifier: Apache-2.0
#include "live_tree.hpp"

#include <troupe/runtime/surface.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include <sys/ioctl.h>
#include <unistd.h>

namespace troupe::cli {
namespace {

std::string short_count(std::uint64_t n) {
  if (n < 1000)
    return std::to_string(n);
  if (n < 1'000'000)
    return fmt::format("{:.1f}k", static_cast<double>(n) / 1e3);
  return fmt::format("{:.1f}M", static_cast<double>(n) / 1e6);
}

std::string short_time(std::chrono::microseconds t) {
  const auto seconds = static_cast<double>(t.count()) / 1e6;
  if (seconds < 60)
    return fmt::format("{:.1f}s", seconds);
  return fmt::format("{}m{:02}s", static_cast<int>(seconds) / 60, static_cast<int>(seconds) % 60);
}

const char* sign_of(activity_state s) {
  switch (s) {
  case activity_state::thinking:
    return "…";
  case activity_state::working:
    return "▸";
  case activity_state::waiting:
    return "?";
  case activity_state::completed:
    return "✓";
  case activity_state::failed:
    return "✗";
  case activity_state::cancelled:
    return "–";
  }
  return " ";
}

const char* colour_of(activity_state s) {
  switch (s) {
  case activity_state::thinking:
    return "\x1b[36m";
  case activity_state::working:
    return "\x1b[33m";
  case activity_state::waiting:
    return "\x1b[35m";
  case activity_state::completed:
    return "\x1b[32m";
  case activity_state::failed:
    return "\x1b[31m";
  case activity_state::cancelled:
    return "\x1b[90m";
  }
  return "";
}

// Columns that the text takes: one a code point, which is right for all but wide scripts.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string cut(std::string_view text, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U)
      continue;
    if (seen++ == columns)
      return std::string{text.substr(0, i)};
  }
  return std::string{text};
}

std::string one_line(std::string_view text) {
  auto safe = shown(text);
  std::replace(safe.begin(), safe.end(), '\n', ' ');
  std::replace(safe.begin(), safe.end(), '\t', ' ');
  return safe;
}

std::string draw_agent(const agent_row& a, timestamp now, std::size_t columns, bool colour) {
  const auto end = is_ended(a.state) ? a.changed_at : now;
  const auto elapsed = std::max(std::chrono::microseconds{0}, std::chrono::microseconds{end - a.started_at});
  auto figures = fmt::format("{:>7} {:>6} tok", short_time(elapsed), short_count(a.subtree.usage.total()));
  auto head =
      fmt::format("{}{} {}", a.origin->number == 0 ? "" : "  ", sign_of(a.state), one_line(a.origin->author));
  head = cut(head, columns > 24 ? columns / 3 : columns);
  const auto head_width = std::max<std::size_t>(width_of(head), std::min<std::size_t>(24, columns / 3));
  std::string line = head + std::string(head_width - width_of(head), ' ');
  if (columns > head_width + figures.size() + 4) {
    auto room = columns - head_width - figures.size() - 3;
    const auto doing = a.held ? "waits for " + a.waiting_for : a.current;
    auto what = cut(one_line(doing), room);
    line += " " + what + std::string(room - width_of(what), ' ') + " " + figures;
  }
  line = cut(line, columns);
  return colour ? colour_of(a.state) + line + "\x1b[0m" : line;
}

tree_size terminal_size() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {size.ws_col, size.ws_row};
}

} // namespace

std::vector<std::string> draw_tree(const session_activity& session, timestamp now, const tree_size& size,
                                   bool colour) {
  const std::size_t room = std::max<std::size_t>(size.rows, 4) - 2;
  std::vector<const agent_row*> order;
  for (const auto& a : session.agents)
    order.push_back(&a);
  // The root first, then who runs, then who has ended, the latest first.
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    if ((a->origin->number == 0) != (b->origin->number == 0))
      return a->origin->number == 0;
    if (is_ended(a->state) != is_ended(b->state))
      return !is_ended(a->state);
    return is_ended(a->state) && a->changed_at > b->changed_at;
  });
  std::vector<std::string> lines;
  std::map<activity_state, std::uint64_t> rest;
  for (const auto* a : order) {
    if (lines.size() < room)
      lines.push_back(draw_agent(*a, now, size.columns, colour));
    else
      ++rest[a->state];
  }
  std::uint64_t collapsed = 0;
  for (const auto& a : session.agents)
    collapsed += a.collapsed_agents;
  if (rest.empty() && collapsed == 0)
    return lines;
  std::string more = "  and";
  for (const auto& [state, count] : rest)
    more += fmt::format(" {} {}", count, to_string(state));
  if (collapsed > 0)
    more += fmt::format(" {} that have ended", collapsed);
  lines.push_back(cut(more, size.columns));
  return lines;
}

void live_tree::show(const session_activity& session) {
  const auto now = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  auto lines = draw_tree(session, now, terminal_size(), true);
  std::string picture;
  if (lines_ > 0)
    picture += fmt::format("\x1b[{}A", lines_);
  picture += "\r\x1b[J";
  for (const auto& line : lines)
    picture += line + "\n";
  lines_ = lines.size();
  std::fwrite(picture.data(), 1, picture.size(), stderr);
  std::fflush(stderr);
}

void live_tree::clear() {
  if (lines_ == 0)
    return;
  auto text = fmt::format("\x1b[{}A\r\x1b[J", lines_);
  lines_ = 0;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

} // namespace troupe::cli
