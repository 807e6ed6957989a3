// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/compaction.hpp>
#include <troupe/runtime/internal/decider.hpp>
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>
#include <troupe/runtime/json_text.hpp>

#include <utility>

namespace troupe {

using nlohmann::json;

void decider::after_results() {
  if (open_ > 0)
    return start_exclusive();
  if (state_.phase == agent_phase::grace)
    return;
  if (auto value = finished_task())
    return finish(complete_task(std::move(*value)));
  if (run_turns_ >= profile_.limits.max_turns)
    return limit(errc::max_turns,
                 "The agent may take " + std::to_string(profile_.limits.max_turns) + " turns.");
  ask_model();
}

std::optional<json> decider::finished_task() {
  if (profile_.mode != agent_mode::task)
    return std::nullopt;
  if (task_result_)
    return std::exchange(task_result_, {});
  for (const auto& call : state_.calls) {
    if (call.name != "finish_task" || !call.result || call.result->part.is_error)
      continue;
    if (auto parsed = parse_json(call.arguments))
      return std::move(*parsed);
  }
  return std::nullopt;
}

outcome decider::complete_task(json value) const {
  if (profile_.output_schema)
    return outcome::make_completed(dump_json(value), value);
  return outcome::make_completed(value.value("result", std::string{}));
}

void decider::end_without_calls() {
  if (!state_.hints->empty() || !state_.background->empty()) {
    if (run_turns_ >= profile_.limits.max_turns)
      return limit(errc::max_turns,
                   "The agent may take " + std::to_string(profile_.limits.max_turns) + " turns.");
    return ask_model();
  }
  if (profile_.mode == agent_mode::task)
    return nudge();
  if (profile_.output == nullptr)
    return finish(outcome::make_completed(said()));
  auto value = structured(said());
  if (value)
    return finish(outcome::make_completed(said(), std::move(*value)));
  if (state_.repaired || run_turns_ >= profile_.limits.max_turns)
    return fail(errc::protocol, "The answer does not fit the output schema: " + value.failure().message);
  emit(warning_body{errc::bad_arguments,
                    "The answer does not fit the output schema: " + value.failure().message,
                    prompt_text::repair(value.failure().message), false});
  command(command::call_model{});
}

void decider::nudge() {
  if (state_.nudges >= profile_.limits.max_nudges)
    return fail(errc::protocol, "The agent stopped without calling finish_task, after " +
                                    std::to_string(state_.nudges) + " reminders.");
  if (run_turns_ >= profile_.limits.max_turns)
    return limit(errc::max_turns,
                 "The agent may take " + std::to_string(profile_.limits.max_turns) + " turns.");
  emit(warning_body{errc::protocol, "The agent wrote text instead of calling finish_task.",
                    prompt_text::nudge(), false});
  command(command::call_model{});
}

result<json> decider::structured(std::string_view text) const {
  if (auto fence = text.find("```"); fence != std::string_view::npos) {
    auto begin = text.find('\n', fence);
    auto end = text.rfind("```");
    if (begin != std::string_view::npos && end > begin)
      text = text.substr(begin, end - begin);
  }
  auto parsed = parse_json(text);
  if (!parsed)
    return error{errc::bad_json, parsed.failure().message};
  if (auto fits = profile_.output->validate(*parsed, errc::bad_arguments, "The answer"); !fits)
    return fits.failure();
  return std::move(*parsed);
}

void decider::end_grace(const std::vector<part>& parts) {
  bool answered = false;
  const auto calls = calls_of(parts);
  open_ = static_cast<std::uint32_t>(calls.size());
  for (const auto& c : calls) {
    auto found = profile_.tools.find(c.name);
    if (found != profile_.tools.end() && found->second.route == tool_route::finish_task && !answered) {
      if (auto checked = check(c)) {
        finish_task(c, checked->arguments);
        answered = task_result_.has_value();
      }
      continue;
    }
    resolve(c, tool_result::failure(state_.limit->code, "No tools are available after the limit."));
  }
  const auto& why = *state_.limit;
  if (answered) {
    auto done = complete_task(std::move(*task_result_));
    return finish(outcome::make_recovered(why.code, why.message, done.text(), done.value()));
  }
  auto text = said();
  if (text.empty() || profile_.mode == agent_mode::task)
    return finish(outcome::make_failed(why.code, why.message, text.empty() ? state_.last_text : text));
  finish(outcome::make_recovered(why.code, why.message, std::move(text)));
}

std::string decider::said() const {
  std::string text;
  for (const auto& e : out_.events)
    if (const auto* t = std::get_if<model_text_body>(&e.body))
      text += t->text;
  return text;
}

void decider::limit(errc code, std::string message) {
  if (!running() || state_.phase == agent_phase::grace)
    return;
  close_calls(code, std::string{describe(code)} + " The call was ended.");
  command(command::cancel_model{});
  deliver();
  const bool has_finish = profile_.mode == agent_mode::task;
  auto note = prompt_text::grace(code, message, has_finish);
  emit(warning_body{code, std::move(message), std::move(note), true});
  command(command::clear_deadline{input::deadline_kind::run});
  command(command::set_deadline{input::deadline_kind::grace, profile_.limits.grace});
  command(command::call_model{});
}

void decider::deliver() {
  if (state_.hints->empty() && state_.background->empty())
    return;
  emit(delivered_body{static_cast<std::uint32_t>(state_.hints->size()),
                      static_cast<std::uint32_t>(state_.background->size())});
}

void decider::ask_model() {
  deliver();
  if (const auto contents = to_compact(); contents > 0)
    return command(command::compact{contents});
  command(command::call_model{});
}

// Judged by the conversation before this step's events, which always stay.
std::uint32_t decider::to_compact() const {
  const auto& rule = profile_.compaction;
  if (rule.above_tokens == 0 || state_.bytes / bytes_per_token <= rule.above_tokens)
    return 0;
  const bool more_follows = !out_.events.empty() || !state_.answer.empty();
  return contents_to_compact(state_.conversation, rule.keep_tokens * bytes_per_token, more_follows);
}

void decider::fail(errc code, std::string detail) {
  emit(error_body{code, detail});
  finish(outcome::make_failed(code, std::move(detail), said()));
}

void decider::finish(outcome o) {
  emit(agent_ended_body{o, run_turns_});
  command(command::clear_deadline{input::deadline_kind::run});
  command(command::clear_deadline{input::deadline_kind::grace});
  command(command::finish{std::move(o), state_.number == 0 ? std::vector<steering_body>{} : *state_.hints});
}

} // namespace troupe
