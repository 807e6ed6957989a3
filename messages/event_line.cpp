// An event as one line for people.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/event.hpp>

#include <array>
#include <cstdio>
#include <type_traits>

namespace troupe {
namespace {

std::string clock_text(timestamp time) {
  auto of_day = time - std::chrono::floor<std::chrono::days>(time);
  std::chrono::hh_mm_ss parts{std::chrono::floor<std::chrono::milliseconds>(of_day)};
  std::array<char, 64> text{};
  auto length =
      std::snprintf(text.data(), text.size(), "%02d:%02d:%02d.%03d", static_cast<int>(parts.hours().count()),
                    static_cast<int>(parts.minutes().count()), static_cast<int>(parts.seconds().count()),
                    static_cast<int>(parts.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string outcome_text(const outcome& o) {
  std::string text{to_string(o.status())};
  if (o.failed())
    text +=
        " (" + std::string{to_string(o.code())} + (o.recovered() ? ", recovered" : "") + "): " + o.detail();
  else if (o.cancelled())
    text += " by " + o.by();
  else if (!o.text().empty())
    text += ": " + o.text();
  return text;
}

std::string describe_body(const event& e) {
  return std::visit(
      [](const auto& b) -> std::string {
        using type = std::decay_t<decltype(b)>;
        if constexpr (std::is_same_v<type, user_message_body>)
          return b.content->text();
        else if constexpr (std::is_same_v<type, tool_call_body>)
          return b.name + " " + b.arguments;
        else if constexpr (std::is_same_v<type, tool_result_body>)
          return b.name + (b.is_error ? " error: " : ": ") + b.text;
        else if constexpr (std::is_same_v<type, agent_started_body>)
          return b.kind + (b.background ? " in the background" : "") + ", model " + b.model;
        else if constexpr (std::is_same_v<type, agent_ended_body>)
          return outcome_text(b.outcome);
        else if constexpr (std::is_same_v<type, question_body>)
          return b.question.str() + " " + b.message;
        else if constexpr (std::is_same_v<type, answer_body>)
          return b.question.str() + " " +
                 b.value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        else if constexpr (std::is_same_v<type, background_result_body>)
          return b.name + " " + outcome_text(b.outcome);
        else if constexpr (std::is_same_v<type, state_body>)
          return b.key + " = " + b.value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        else if constexpr (std::is_same_v<type, compaction_body>)
          return std::to_string(b.contents) + " contents became a summary";
        else if constexpr (std::is_same_v<type, delivered_body>)
          return std::to_string(b.hints) + " hints, " + std::to_string(b.background_results) +
                 " background results";
        else if constexpr (std::is_same_v<type, warning_body> || std::is_same_v<type, error_body>)
          return std::string{to_string(b.code)} + ": " + b.message;
        else if constexpr (std::is_same_v<type, other_body>)
          return b.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        else
          return b.text;
      },
      e.body);
}

} // namespace

std::string escape_controls(std::string_view text, bool keep_lines) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too; their UTF-8 form begins with 0xC2.
    bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (keep_lines && (byte == '\n' || byte == '\t')) {
      safe += text[i];
    } else if (byte == '\n') {
      safe += "\\n";
    } else if (byte == '\t') {
      safe += "\\t";
    } else if (byte < 0x20 || byte == 0x7F || c1) {
      if (c1)
        byte = static_cast<unsigned char>(text[++i]);
      safe += "\\x";
      safe += digits[byte >> 4U];
      safe += digits[byte & 0xFU];
    } else {
      safe += text[i];
    }
  }
  return safe;
}

std::string to_line(const event& e, std::size_t width) {
  auto body = escape_controls(describe_body(e), false);
  if (body.size() > width) {
    auto cut = width;
    while (cut > 0 && (static_cast<unsigned char>(body[cut]) & 0xC0U) == 0x80U)
      --cut;
    body.resize(cut);
    body += "…";
  }
  std::string line = clock_text(e.time);
  line += ' ';
  line += escape_controls(e.branch(), false);
  line += "  ";
  const auto* other = e.as<other_body>();
  line += other ? escape_controls(other->kind, false) : std::string{to_string(e.kind())};
  line += "  ";
  line += body;
  return line;
}

} // namespace troupe
