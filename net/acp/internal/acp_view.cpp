// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/acp/internal/acp_content.hpp>
#include <troupe/net/acp/internal/acp_view.hpp>
#include <troupe/net/internal/json_member.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr std::size_t max_title = 120;
constexpr std::size_t max_content = 64 * 1024;

struct tool_kind {
  std::string_view tool;
  const char* kind;
};

constexpr std::array kinds = {
    tool_kind{"read_file", "read"},       tool_kind{"list_directory", "search"},
    tool_kind{"glob", "search"},          tool_kind{"grep_search", "search"},
    tool_kind{"write_file", "edit"},      tool_kind{"edit_file", "edit"},
    tool_kind{"environment", "execute"},  tool_kind{"fetch_url", "fetch"},
    tool_kind{"todo", "think"},           tool_kind{"spawn_subagent", "think"},
    tool_kind{"invoke_agent", "think"},   tool_kind{"use_skill", "read"},
    tool_kind{"read_skill_file", "read"},
};

const char* kind_of(std::string_view tool) {
  for (const auto& known : kinds)
    if (known.tool == tool)
      return known.kind;
  return "other";
}

json content_of(std::string text) {
  return json::array({{{"type", "content"}, {"content", {{"type", "text"}, {"text", std::move(text)}}}}});
}

// "read_file notes.md": the tool and the first short text among its arguments.
std::string title_of(const std::string& name, const json& arguments) {
  if (arguments.is_object())
    for (const auto* key : {"path", "name", "agent_name", "command", "url", "pattern", "request", "prompt"})
      if (auto found = arguments.find(key); found != arguments.end() && found->is_string())
        return cut_text(name + " " + shown(found->get<std::string>()), max_title);
  return name;
}

// The turn of a message, "s/a0/m3".
std::optional<std::uint32_t> turn_of(std::string_view message) {
  const auto at = message.rfind("/m");
  std::uint32_t turn = 0;
  if (at == std::string_view::npos)
    return std::nullopt;
  const auto digits = message.substr(at + 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), turn);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional{turn} : std::nullopt;
}

// The todo list as a plan; null when the value is none.
json plan_of(const json& list) {
  if (!list.is_array())
    return nullptr;
  auto entries = json::array();
  for (const auto& item : list) {
    if (!item.is_object())
      return nullptr;
    const auto status = text_of(item, "status");
    const bool known = status == "in_progress" || status == "completed";
    entries.push_back({{"content", shown(text_of(item, "text"))},
                       {"priority", "medium"},
                       {"status", known ? status : "pending"}});
  }
  return {{"sessionUpdate", "plan"}, {"entries", std::move(entries)}};
}

} // namespace

json acp_chunk(const char* kind, std::string text) {
  return {{"sessionUpdate", kind}, {"content", {{"type", "text"}, {"text", std::move(text)}}}};
}

std::vector<json> acp_view::take(const event& e) {
  std::vector<json> out;
  if (e.origin->number == 0)
    root_event(e, out);
  else
    child_event(e, out);
  return out;
}

std::vector<json> acp_view::take(const shown_piece& piece) {
  const auto turn = turn_of(piece.message);
  if (piece.agent != 0 || !turn || *turn < turn_)
    return {};
  auto& text = texts_[{*turn, piece.thought}];
  if (text.gap || piece.offset > text.streamed) {
    text.gap = true;
    return {};
  }
  const auto known = static_cast<std::size_t>(text.streamed - piece.offset);
  if (known >= piece.text.size())
    return {};
  text.streamed = piece.offset + piece.text.size();
  return {acp_chunk(piece.thought ? "agent_thought_chunk" : "agent_message_chunk", piece.text.substr(known))};
}

void acp_view::root_event(const event& e, std::vector<json>& out) {
  if (const auto* said = e.as<user_message_body>()) {
    if (replay_)
      out.push_back(acp_chunk("user_message_chunk", shown(said->content->text())));
  } else if (const auto* text = e.as<model_text_body>()) {
    add_text(text->turn, false, text->text, out);
  } else if (const auto* thought = e.as<thought_body>()) {
    add_text(thought->turn, true, thought->text, out);
  } else if (const auto* call = e.as<tool_call_body>()) {
    add_call(*call, out);
  } else if (const auto* result = e.as<tool_result_body>()) {
    add_result(*result, out);
  } else if (const auto* state = e.as<state_body>(); state != nullptr && state->key == "todo") {
    if (auto plan = plan_of(state->value); !plan.is_null())
      out.push_back(std::move(plan));
  }
}

void acp_view::add_text(std::uint32_t turn, bool thought, const std::string& text, std::vector<json>& out) {
  // A piece that comes after the final event of its text finds here that all was sent.
  if (turn != turn_)
    std::erase_if(texts_, [turn](const auto& entry) { return entry.first.first < turn; });
  turn_ = turn;
  auto& p = texts_[{turn, thought}];
  const auto masked = shown(text);
  const auto begin = p.final;
  p.final += masked.size();
  if (p.streamed >= p.final)
    return;
  const auto known = p.streamed > begin ? static_cast<std::size_t>(p.streamed - begin) : 0;
  p.streamed = p.final;
  if (known < masked.size())
    out.push_back(acp_chunk(thought ? "agent_thought_chunk" : "agent_message_chunk", masked.substr(known)));
}

void acp_view::add_call(const tool_call_body& call, std::vector<json>& out) const {
  auto arguments = parse_json(call.arguments.empty() ? "{}" : std::string_view{call.arguments});
  json update = {{"sessionUpdate", "tool_call"},
                 {"toolCallId", call.call.str()},
                 {"title", title_of(shown(call.name), arguments ? *arguments : json{})},
                 {"kind", kind_of(call.name)},
                 {"status", "in_progress"}};
  const auto masked = parse_json(shown(call.arguments));
  if (masked && masked->is_object())
    update["rawInput"] = *masked;
  out.push_back(std::move(update));
}

void acp_view::add_result(const tool_result_body& result, std::vector<json>& out) {
  children_.erase(result.call);
  out.push_back({{"sessionUpdate", "tool_call_update"},
                 {"toolCallId", result.call.str()},
                 {"status", result.is_error ? "failed" : "completed"},
                 {"content", content_of(cut_text(shown(result.text), max_content))}});
}

void acp_view::child_event(const event& e, std::vector<json>& out) {
  const auto& call = e.origin->parent_call;
  const auto name = shown(e.author());
  if (e.as<agent_started_body>() != nullptr)
    add_line(call, name + " has started", out);
  else if (const auto* used = e.as<tool_call_body>())
    add_line(call, name + ": " + shown(used->name) + " " + shown(used->arguments), out);
  else if (const auto* text = e.as<model_text_body>(); text != nullptr && !text->text.empty())
    add_line(call, name + ": " + shown(text->text), out);
  else if (const auto* ended = e.as<agent_ended_body>())
    add_line(call, name + " has ended: " + std::string{to_string(ended->outcome.status())}, out);
}

void acp_view::add_line(const call_id& call, std::string line, std::vector<json>& out) {
  auto& lines = children_[call];
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t')
      c = ' ';
  lines.push_back(cut_text(line, 2 * max_title));
  if (lines.size() > max_child_lines)
    lines.pop_front();
  std::string text;
  for (const auto& l : lines)
    text += l + "\n";
  out.push_back({{"sessionUpdate", "tool_call_update"},
                 {"toolCallId", call.str()},
                 {"content", content_of(std::move(text))}});
}

} // namespace troupe::net
