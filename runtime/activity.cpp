// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/activity.hpp>

#include <charconv>
#include <numeric>

namespace troupe {

std::string_view to_string(activity_state s) noexcept {
  static constexpr std::array<std::string_view, activity_states> names = {
      "thinking", "working", "waiting", "completed", "failed", "cancelled"};
  return names[static_cast<std::size_t>(s)];
}

std::string_view to_string(session_group g) noexcept {
  static constexpr std::array<std::string_view, 5> names = {"needs_input", "running", "queued", "failed",
                                                            "done"};
  return names[static_cast<std::size_t>(g)];
}

agent_counts& agent_counts::operator+=(const agent_counts& other) noexcept {
  turns += other.turns;
  tool_calls += other.tool_calls;
  failed_calls += other.failed_calls;
  usage += other.usage;
  return *this;
}

std::uint64_t activity_counts::total_events() const noexcept {
  return std::accumulate(events.begin(), events.end(), std::uint64_t{0});
}

activity_counts& activity_counts::operator+=(const activity_counts& other) noexcept {
  for (std::size_t i = 0; i < events.size(); ++i)
    events[i] += other.events[i];
  turns += other.turns;
  started += other.started;
  completed += other.completed;
  failed += other.failed;
  cancelled += other.cancelled;
  usage += other.usage;
  return *this;
}

void activity_counts::add(const event& e) noexcept {
  ++events[static_cast<std::size_t>(e.kind())];
  usage += e.usage;
  if (e.kind() == event_kind::agent_started) {
    ++started;
  } else if (const auto* ended = e.as<agent_ended_body>()) {
    turns += ended->turns;
    ++(ended->outcome.completed() ? completed : ended->outcome.failed() ? failed : cancelled);
  }
}

std::string to_text(const activity_cursor& cursor) {
  return std::to_string(cursor.rows) + "." + std::to_string(cursor.removals);
}

std::optional<activity_cursor> cursor_from_text(std::string_view text) noexcept {
  activity_cursor cursor;
  const char* end = text.data() + text.size();
  const auto rows = std::from_chars(text.data(), end, cursor.rows);
  if (rows.ec != std::errc{} || rows.ptr == end || *rows.ptr != '.')
    return std::nullopt;
  const auto removals = std::from_chars(rows.ptr + 1, end, cursor.removals);
  if (removals.ec != std::errc{} || removals.ptr != end)
    return std::nullopt;
  return cursor;
}

tool_activity& tool_activity::operator+=(const tool_activity& other) noexcept {
  calls += other.calls;
  errors += other.errors;
  time += other.time;
  return *this;
}

} // namespace troupe
