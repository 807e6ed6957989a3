// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/decider.hpp>
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>
#include <troupe/runtime/json_text.hpp>

#include <utility>

namespace troupe {
namespace {

bool allows(const nlohmann::json& answer) {
  if (answer.is_boolean())
    return answer.get<bool>();
  if (answer.is_string())
    return answer == "allow" || answer == "yes";
  return answer.is_object() && answer.contains("decision") && answer["decision"] == "allow";
}

} // namespace

void decider::on(const input::start& in) {
  if (state_.phase != agent_phase::idle)
    return;
  run_turns_ = 0;
  out_.events.reserve(2); // batches are kept: no room that stays empty
  emit(agent_started_body{profile_.name, in.kind, profile_.model, in.parent, in.background});
  for (const auto& [key, value] : in.shared)
    if (auto known = state_.keys->find(key); known == state_.keys->end() || known->second != value)
      emit(state_body{key, value, true});
  if (in.request == nullptr && state_.hints->empty() && state_.background->empty())
    return finish(outcome{});
  if (in.request != nullptr)
    emit(user_message_body{in.request});
  command(command::set_deadline{input::deadline_kind::run, profile_.limits.timeout});
  ask_model();
}

void decider::on(const input::model_done& in) {
  if (state_.phase != agent_phase::thinking && state_.phase != agent_phase::grace)
    return;
  const auto& parts = in.response.parts;
  auto calls = emit_answer(in.response, in.timing);
  if (state_.phase == agent_phase::grace)
    return end_grace(parts);
  if (calls > 0)
    return begin_calls(parts);
  if (in.response.finish == finish_reason::filtered)
    return fail(errc::model_refused, "The model's answer was withheld by its filter.");
  if (in.response.finish == finish_reason::length)
    emit(warning_body{errc::too_large, "The answer was cut at the model's output limit.", {}, false});
  end_without_calls();
}

void decider::on(const input::model_failed& in) {
  if (state_.phase != agent_phase::thinking && state_.phase != agent_phase::grace)
    return;
  emit(error_body{in.error.code, clean(in.error.message)});
  if (state_.phase == agent_phase::grace)
    return finish(outcome::make_failed(state_.limit->code, state_.limit->message, state_.last_text));
  finish(outcome::make_failed(in.error.code, clean(in.error.message), state_.last_text));
}

void decider::on(const input::tool_done& in) {
  const auto* call = find_open(state_, in.call);
  if (call == nullptr)
    return;
  for (const auto& [key, value] : in.result.state)
    emit(state_body{key, value, false});
  if (in.result.question)
    return ask_for_tool(*call, *in.result.question);
  if (in.result.ends_agent && in.result.failed) {
    if (*in.result.failed == errc::max_turns)
      return limit(errc::max_turns, clean(in.result.text));
    return on(input::give_up{*in.result.failed, in.result.text});
  }
  resolve(*call, in.result, in.timing);
  after_results();
}

void decider::on(const input::child_done& in) {
  const auto* call = find_open(state_, in.call);
  if (call == nullptr)
    return;
  auto text = in.spawned ? prompt_text::spawned_result(in.name, in.model, in.outcome)
                         : prompt_text::child_result(in.name, in.outcome);
  tool_result r{std::move(text), {}, {}};
  if (!in.outcome.completed())
    r.failed = in.outcome.code();
  resolve(*call, r);
  after_results();
}

void decider::on(const input::launched& in) {
  const auto* call = find_open(state_, in.call);
  if (call == nullptr)
    return;
  resolve(*call, {prompt_text::launched(in.call, in.name, in.model, in.queued), {}, {}});
  after_results();
}

void decider::on(const input::durable& in) {
  for (const auto& id : in.calls)
    if (const auto* call = find_open(state_, id); call != nullptr && may_run(*call))
      run_function(*call);
}

void decider::on(const input::answer& in) {
  const auto* call = find_open(state_, in.question);
  if (call == nullptr || !call->asking)
    return;
  emit(answer_body{in.question, in.value, in.by});
  command(command::question_closed{in.question});
  if (call->running)
    return go_on(*call, {in.value});
  auto found = profile_.tools.find(call->name);
  if (found != profile_.tools.end() && found->second.route == tool_route::request_input) {
    resolve(*call, {in.value.is_string() ? in.value.get<std::string>() : dump_json(in.value), {}, {}});
  } else if (!allows(in.value)) {
    resolve(*call,
            tool_result::failure(errc::denied, "The user did not allow this call. Think again: try another "
                                               "way, or say what stands in the way."));
  } else {
    auto checked = check(*call);
    if (checked)
      carry_out(*call, *checked);
  }
  flush_durable();
  after_results();
}

void decider::on(const input::question_expired& in) {
  const auto* call = find_open(state_, in.question);
  if (call == nullptr || !call->asking)
    return;
  command(command::question_closed{in.question});
  if (call->running) {
    emit(answer_body{in.question, nullptr, "timeout"});
    return go_on(*call, {});
  }
  resolve(*call,
          tool_result::failure(errc::timeout, "Nobody answered in time. Go on without the answer, or say "
                                              "what stands in the way."));
  after_results();
}

void decider::on(const input::compacted& in) {
  if (state_.phase != agent_phase::thinking)
    return;
  if (in.contents > 0 && in.contents < state_.conversation.size())
    emit(compaction_body{in.contents, in.summary ? clean(*in.summary) : std::string{}}, in.used);
  command(command::call_model{});
}

void decider::on(const input::deadline& in) {
  if (in.kind == input::deadline_kind::grace) {
    if (state_.phase != agent_phase::grace)
      return;
    command(command::cancel_model{});
    return finish(outcome::make_failed(state_.limit->code, state_.limit->message, state_.last_text));
  }
  limit(errc::timeout, "The agent may run for " + std::to_string(profile_.limits.timeout.count()) + " ms.");
}

void decider::on(const input::give_up& in) {
  if (!running())
    return;
  emit(error_body{in.code, clean(in.message)});
  close_calls(in.code, "The agent gave up: " + clean(in.message));
  command(command::cancel_model{});
  finish(outcome::make_failed(in.code, clean(in.message), state_.last_text));
}

void decider::on(const input::cancel& in) {
  if (!running())
    return;
  close_calls(errc::cancelled, "Cancelled by " + in.by + ".");
  command(command::cancel_model{});
  finish(outcome::make_cancelled(in.by, state_.last_text));
}

void decider::on(const input::resumed&) {
  if (!running())
    return;
  if (state_.phase == agent_phase::grace) {
    command(command::set_deadline{input::deadline_kind::grace, profile_.limits.grace});
    return command(command::call_model{});
  }
  command(command::set_deadline{input::deadline_kind::run, profile_.limits.timeout});
  if (state_.phase == agent_phase::thinking)
    return ask_model();
  for (const auto& call : state_.calls)
    if (!call.result)
      resume_call(call);
  after_results();
}

bool decider::running() const {
  return state_.phase != agent_phase::idle && state_.phase != agent_phase::ended;
}

step decide(const agent_profile& profile, const agent_state& state, const agent_input& in,
            const decide_options& options) {
  decider d{profile, state, options};
  std::visit([&d](const auto& value) { d.on(value); }, in);
  return d.take();
}

} // namespace troupe
