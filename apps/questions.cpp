// SPDX-License-Identifier: Apache-2.0
#include "questions.hpp"

#include <troupe/runtime/ascii_text.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/session_fold.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

#include <poll.h>
#include <unistd.h>

namespace troupe::cli {
namespace {

constexpr std::size_t page_events = 4096;
constexpr std::size_t max_line_bytes = std::size_t{1} << 20;
constexpr int poll_ms = 100;

bool is_type(const nlohmann::json& schema, std::string_view type) {
  return schema.is_object() && schema.contains("type") && schema["type"] == type;
}

} // namespace

result<std::vector<open_question>> open_questions(session_store& store, const session_id& session) {
  std::vector<open_question> open;
  auto close = [&open](const call_id& id) {
    std::erase_if(open, [&id](const open_question& q) { return q.body.question == id; });
  };
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    auto page = store.read(session, after, page_events);
    if (!page)
      return page.failure();
    for (const auto& batch : page->batches) {
      for (const auto& e : *batch) {
        if (const auto* question = e.as<question_body>())
          open.push_back({*question, e.author()});
        else if (const auto* answer = e.as<answer_body>())
          close(answer->question);
        else if (const auto* r = e.as<tool_result_body>())
          close(r->call);
      }
      after = batch->back().seq;
    }
    more = page->more && !page->batches.empty();
  }
  return open;
}

nlohmann::json typed_answer(std::string_view text, const nlohmann::json& schema) {
  if (is_type(schema, "string"))
    return std::string{text};
  if (is_type(schema, "boolean")) {
    const auto word = ascii_lower(text);
    if (word == "y" || word == "yes" || word == "true" || word == "allow")
      return true;
    if (word == "n" || word == "no" || word == "false" || word == "deny")
      return false;
  }
  auto parsed = parse_json(text);
  return parsed ? *parsed : nlohmann::json(std::string{text});
}

std::string answer_hint(const nlohmann::json& schema) {
  if (!schema.is_object())
    return {};
  if (auto words = schema.find("enum"); words != schema.end() && words->is_array()) {
    std::string list;
    for (const auto& word : *words)
      list += (list.empty() ? "" : ", ") + (word.is_string() ? word.get<std::string>() : dump_json(word));
    return "one of: " + list;
  }
  if (is_type(schema, "boolean"))
    return "yes or no";
  if (is_type(schema, "string"))
    return {};
  if (is_type(schema, "number") || is_type(schema, "integer"))
    return "a number";
  return "JSON for " + dump_json(schema);
}

std::string question_text(const open_question& question) {
  auto text = shown(question.agent) + " asks: " + shown(question.body.message);
  if (auto hint = answer_hint(question.body.schema); !hint.empty())
    text += " (" + shown(hint) + ")";
  return text;
}

std::optional<std::string> read_line(const std::function<bool()>& over) {
  std::string line;
  for (;;) {
    if (over())
      return std::nullopt;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, poll_ms) <= 0)
      continue;
    char c = 0;
    if (read(STDIN_FILENO, &c, 1) != 1)
      return line.empty() ? std::nullopt : std::optional{line};
    if (c == '\n')
      return line;
    if (line.size() < max_line_bytes)
      line += c;
  }
}

asked ask_on_terminal(session& to, const open_question& question, const std::function<bool()>& over) {
  std::fprintf(stderr, "%s\n", question_text(question).c_str());
  for (;;) {
    std::fprintf(stderr, "answer> ");
    std::fflush(stderr);
    auto line = read_line(over);
    if (!line)
      return over() ? asked::closed : asked::no_input;
    auto taken = to.answer(question.body.question.str(), typed_answer(*line, question.body.schema));
    if (taken)
      return asked::answered;
    if (taken.failure().code == errc::not_found)
      return asked::closed;
    std::fprintf(stderr, "%s\n", shown(taken.failure().message).c_str());
    if (taken.failure().code != errc::bad_arguments)
      return asked::failed;
  }
}

question_watch::question_watch(runtime& rt, session_id session, bool before)
    : rt_(rt), session_(std::move(session)), again_(before) {}

std::vector<open_question> question_watch::fresh() {
  const auto snapshot = rt_.engine().snapshot(session_);
  const auto* row = snapshot && !snapshot->sessions.empty() ? &snapshot->sessions.front().row : nullptr;
  const auto count = row != nullptr ? row->totals.count(event_kind::question) : asked_;
  if (count == asked_ && !again_)
    return {};
  asked_ = count;
  again_ = false;
  auto open = open_questions(*rt_.engine().store(), session_);
  if (!open)
    return {};
  std::erase_if(*open, [this](const open_question& q) { return !given_.insert(q.body.question).second; });
  // The observer hears of a question before the log has it.
  if (row != nullptr)
    again_ = std::any_of(row->questions.begin(), row->questions.end(),
                         [this](const open_question_row& q) { return !given_.contains(q.question); });
  return std::move(*open);
}

} // namespace troupe::cli
