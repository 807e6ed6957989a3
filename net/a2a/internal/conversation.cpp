// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/codec.hpp>
#include <troupe/net/a2a/internal/conversation.hpp>
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>

namespace troupe::net::a2a {

using nlohmann::json;

namespace {

constexpr const char* blob_name = "a2a";
constexpr const char* ask_tool = "request_input";

void add_line(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty())
    text += "\n\n";
  text += more;
}

std::string question_of(const tool_call_part& call) {
  const auto arguments = parse_json(call.arguments);
  return arguments ? text_member(*arguments, "message") : std::string{};
}

// What the last answer left: ids, its text, its question.
struct last_answer {
  std::size_t at = 0;
  std::string text;
  std::string question;
};

std::optional<last_answer> find_answer(const transcript& contents, conversation& out) {
  for (auto i = contents.size(); i-- > 0;) {
    const auto& c = *contents[i];
    if (c.role != troupe::role::model)
      continue;
    last_answer found{i, c.text(), {}};
    for (const auto& p : c.parts) {
      if (auto ids = read_blob(p.blob))
        out.ids = std::move(*ids);
      if (const auto* call = std::get_if<tool_call_part>(&p.value))
        found.question = question_of(*call);
    }
    return found;
  }
  return std::nullopt;
}

void take_news(const content& c, conversation& out, std::string& text, const std::string& question) {
  for (const auto& p : c.parts) {
    if (const auto* said = std::get_if<text_part>(&p.value)) {
      add_line(text, said->text);
    } else if (const auto* result = std::get_if<tool_result_part>(&p.value)) {
      out.hints_only = false;
      if (result->is_error)
        out.unanswered = question;
      else
        add_line(text, result->text);
    } else if (const auto* data = std::get_if<data_part>(&p.value)) {
      const bool uri = !data->uri.empty();
      out.news.push_back({uri ? part::form::uri : part::form::bytes,
                          uri ? data->uri : data->base64,
                          {},
                          {},
                          data->mime_type});
    }
  }
}

} // namespace

std::string write_blob(const conversation_ids& ids) {
  json inner = json::object();
  if (!ids.context.empty())
    inner["context"] = ids.context;
  if (!ids.task.empty())
    inner["task"] = ids.task;
  inner["state"] = state_name(ids.state, dialect::v03);
  return dump_json({{blob_name, std::move(inner)}});
}

std::optional<conversation_ids> read_blob(const std::string& blob) {
  if (blob.empty())
    return std::nullopt;
  const auto parsed = parse_json(blob);
  const auto* inner = parsed ? member(*parsed, blob_name) : nullptr;
  if (inner == nullptr || !inner->is_object())
    return std::nullopt;
  return conversation_ids{text_member(*inner, "context"), text_member(*inner, "task"),
                          state_from_name(text_member(*inner, "state"))};
}

conversation read_conversation(const model_request& request) {
  conversation out;
  const auto& tools = request.head->tools;
  out.is_grace = std::none_of(tools.begin(), tools.end(), [](const auto& t) { return t.name == ask_tool; });
  const auto answer = find_answer(request.contents, out);
  out.is_new = !answer.has_value();
  out.hints_only = answer && answer->question.empty();
  out.earlier = answer ? answer->text : std::string{};
  out.question = answer ? answer->question : std::string{};
  std::string text;
  for (auto i = answer ? answer->at + 1 : 0; i < request.contents.size(); ++i)
    take_news(*request.contents[i], out, text, answer ? answer->question : std::string{});
  // An empty request is one all the same.
  out.news.insert(out.news.begin(), part{part::form::text, std::move(text), {}, {}, {}});
  return out;
}

std::string make_message_id(const model_request& request, const std::vector<part>& parts) {
  return "m-" + content_hash_hex(request.agent_instance + "\n" + std::to_string(request.turn) + "\n" +
                                 text_of(parts));
}

} // namespace troupe::net::a2a
