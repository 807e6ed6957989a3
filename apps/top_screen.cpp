// SPDX-License-Identifier: Apache-2.0
#include "top_screen.hpp"

#include <troupe/runtime/surface.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <tuple>

namespace troupe::cli {
namespace {

using nlohmann::json;

std::span<const json> rows_of(const top_state& state) {
  const auto found = state.snapshot.find(state.session.empty() ? "sessions" : "agents");
  if (found == state.snapshot.end() || !found->is_array())
    return {};
  return found->get_ref<const json::array_t&>();
}

std::string text_of(const json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::uint64_t number_of(const json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::uint64_t sum_of(const json& row, const char* object, std::initializer_list<const char*> keys) {
  const auto found = row.find(object);
  std::uint64_t sum = 0;
  if (found != row.end() && found->is_object())
    for (const auto* key : keys)
      sum += number_of(*found, key);
  return sum;
}

std::string session_line(const json& row, std::size_t width) {
  const auto live = sum_of(row, "agents", {"thinking", "working", "waiting"});
  const auto tokens = sum_of(row, "usage", {"input", "output"});
  const auto head = fmt::format("{} {} {:>6} {:>9}  ", fit(text_of(row, "group"), 11),
                                fit(text_of(row, "session"), 18), live, tokens);
  const auto current = text_of(row, "current");
  return head + fit(current.empty() ? text_of(row, "prompt") : current, width > 52 ? width - 52 : 0);
}

std::string agent_line(const json& row, std::size_t width) {
  const auto tokens = sum_of(row, "usage", {"input", "output"});
  const auto indent = number_of(row, "number") == 0 ? "" : "  ";
  const auto head = fmt::format("{} {} {:>6} {:>9}  ", fit(text_of(row, "state"), 9),
                                fit(indent + text_of(row, "name"), 24), number_of(row, "turns"), tokens);
  return head + fit(text_of(row, "current"), width > 56 ? width - 56 : 0);
}

std::string totals_line(const top_state& state) {
  const auto found = state.snapshot.find("totals");
  const json totals = found != state.snapshot.end() ? *found : json::object();
  return fmt::format("{} agents started, {} completed, {} failed, {} turns, {} tool calls",
                     number_of(totals, "started"), number_of(totals, "completed"),
                     number_of(totals, "failed"), number_of(totals, "turns"),
                     number_of(totals, "tool_calls"));
}

} // namespace

std::string fit(std::string_view text, std::size_t width) {
  auto clean = shown(text);
  std::replace(clean.begin(), clean.end(), '\n', ' ');
  std::replace(clean.begin(), clean.end(), '\t', ' ');
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < clean.size() && count < width; ++count) {
    auto next = i + 1;
    while (next < clean.size() && (static_cast<unsigned char>(clean[next]) & 0xC0U) == 0x80U)
      ++next;
    out.append(clean, i, next - i);
    i = next;
  }
  return out.append(width - count, ' ');
}

json in_order(json snapshot) {
  static constexpr std::string_view groups[] = {"needs_input", "running", "queued", "failed", "done"};
  static constexpr std::string_view live[] = {"thinking", "working", "waiting"};
  auto place = [](const json& row, const char* key, auto first, auto last) {
    return std::find(first, last, text_of(row, key)) - first;
  };
  if (auto found = snapshot.find("sessions"); found != snapshot.end() && found->is_array())
    std::stable_sort(found->begin(), found->end(), [&place](const json& a, const json& b) {
      const auto left = place(a, "group", std::begin(groups), std::end(groups));
      const auto right = place(b, "group", std::begin(groups), std::end(groups));
      return left != right ? left < right : number_of(a, "started_at") > number_of(b, "started_at");
    });
  if (auto found = snapshot.find("agents"); found != snapshot.end() && found->is_array())
    std::stable_sort(found->begin(), found->end(), [](const json& a, const json& b) {
      auto key = [](const json& row) {
        const auto state = text_of(row, "state");
        const bool works = std::find(std::begin(live), std::end(live), state) != std::end(live);
        const auto number = number_of(row, "number");
        return std::tuple{number != 0, !works, number};
      };
      return key(a) < key(b);
    });
  return snapshot;
}

std::size_t row_count(const top_state& state) {
  return rows_of(state).size();
}

std::string chosen_session(const top_state& state) {
  if (!state.session.empty())
    return state.session;
  const auto rows = rows_of(state);
  return state.chosen < rows.size() ? text_of(rows[state.chosen], "session") : std::string{};
}

json open_question(const top_state& state) {
  const auto session = chosen_session(state);
  const auto found = state.snapshot.find("sessions");
  if (found != state.snapshot.end() && found->is_array())
    for (const auto& row : *found)
      if (text_of(row, "session") == session && row.contains("questions") && row["questions"].is_array() &&
          !row["questions"].empty())
        return row["questions"].front();
  return nullptr;
}

std::vector<std::string> top_lines(const top_state& state, std::size_t width, std::size_t height) {
  std::vector<std::string> lines;
  lines.push_back(fit(totals_line(state), width));
  lines.push_back(fit(state.session.empty()
                          ? "  GROUP       SESSION            AGENTS    TOKENS"
                          : "  STATE     AGENT                     TURNS    TOKENS   of " + state.session,
                      width));
  const auto rows = rows_of(state);
  const auto room = height > 4 ? height - 4 : 1;
  const auto first = state.chosen >= room ? state.chosen - room + 1 : 0;
  for (auto i = first; i < rows.size() && i < first + room; ++i) {
    const std::string mark = i == state.chosen ? "> " : "  ";
    const auto line = state.session.empty() ? session_line(rows[i], width) : agent_line(rows[i], width);
    lines.push_back(fit(mark + line, width));
  }
  if (const auto question = open_question(state); question.is_object())
    lines.push_back(fit("? " + text_of(question, "message"), width));
  lines.push_back(fit(
      state.note.empty() ? "arrows choose, enter opens, s steers, c cancels, a answers, q quits" : state.note,
      width));
  return lines;
}

} // namespace troupe::cli
