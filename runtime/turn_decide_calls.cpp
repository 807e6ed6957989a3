// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/decider.hpp>
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

using nlohmann::json;

namespace {

constexpr std::size_t max_named_tools = 64; // in the answer to a call of an unknown tool

bool repeatable(const tool_definition& tool) {
  return tool.annotations.read_only || tool.annotations.idempotent;
}

} // namespace

std::size_t decider::emit_answer(const model_response& response, event_timing timing) {
  ++run_turns_;
  const auto turn = state_.turns;
  std::uint32_t calls = 0;
  auto used = response.usage;
  out_.events.reserve(out_.events.size() + response.parts.size() +
                      1); // batches are kept: no room that stays empty
  for (const auto& p : response.parts) {
    if (const auto* text = std::get_if<text_part>(&p.value)) {
      emit(model_text_body{turn, clean(text->text), p.blob}, std::exchange(used, {}),
           std::exchange(timing, {}));
    } else if (const auto* thought = std::get_if<thought_part>(&p.value)) {
      emit(thought_body{turn, clean(thought->text), p.blob}, std::exchange(used, {}),
           std::exchange(timing, {}));
    } else if (const auto* call = std::get_if<tool_call_part>(&p.value)) {
      emit(tool_call_body{turn, make_call_id(state_.number, turn, calls), clean(call->name),
                          clean(call->arguments), p.blob},
           std::exchange(used, {}), std::exchange(timing, {}));
      ++calls;
    } else if (!p.blob.empty()) {
      // Data that the model made: no event shows them, but the model sees them again.
      emit(model_text_body{turn, {}, p.blob}, std::exchange(used, {}), std::exchange(timing, {}));
    }
  }
  if (response.parts.empty())
    emit(model_text_body{turn, {}, {}}, used, timing);
  return calls;
}

std::vector<open_call> decider::calls_of(const std::vector<part>& parts) const {
  std::uint32_t index = 0;
  std::vector<open_call> calls;
  for (const auto& p : parts) {
    const auto* call = std::get_if<tool_call_part>(&p.value);
    if (call == nullptr)
      continue;
    open_call c;
    c.call = make_call_id(state_.number, state_.turns, index++);
    c.name = clean(call->name);
    c.arguments = clean(call->arguments);
    calls.push_back(std::move(c));
  }
  return calls;
}

void decider::begin_calls(const std::vector<part>& parts) {
  const auto calls = calls_of(parts);
  open_ = static_cast<std::uint32_t>(calls.size());
  turn_calls_ = &calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i >= profile_.max_calls_per_turn)
      resolve(calls[i],
              tool_result::failure(errc::too_large, "Too many calls in one answer: at most " +
                                                        std::to_string(profile_.max_calls_per_turn) +
                                                        " are carried out."));
    else
      begin(calls[i]);
  }
  flush_durable();
  after_results();
  turn_calls_ = nullptr;
}

void decider::begin(const open_call& call) {
  auto checked = check(call);
  if (!checked)
    return;
  auto verdict = judge(call, *checked);
  if (verdict.decision == policy_decision::deny)
    return resolve(call, tool_result::failure(errc::denied, verdict.message));
  if (verdict.decision == policy_decision::ask)
    return ask(call, {{"type", "boolean"}}, verdict.message, "policy");
  carry_out(call, *checked);
}

std::optional<checked_call> decider::check(const open_call& call) {
  auto found = profile_.tools.find(call.name);
  if (found == profile_.tools.end()) {
    resolve(call, tool_result::failure(errc::unknown_tool, unknown_tool_text(call.name)));
    return std::nullopt;
  }
  auto parsed = parse_json(call.arguments.empty() ? "{}" : std::string_view{call.arguments});
  if (!parsed) {
    resolve(call, tool_result::failure(errc::bad_arguments, "The arguments are not JSON that can be read: " +
                                                                parsed.failure().message));
    return std::nullopt;
  }
  if (!parsed->is_object()) {
    resolve(call, tool_result::failure(errc::bad_arguments, "The arguments must be a JSON object, not " +
                                                                std::string{parsed->type_name()} + "."));
    return std::nullopt;
  }
  if (!found->second.arguments->valid(*parsed)) {
    auto fault =
        found->second.arguments->validate(*parsed, errc::bad_arguments, "The arguments of " + call.name);
    resolve(call, tool_result::failure(errc::bad_arguments, fault.failure().message));
    return std::nullopt;
  }
  return checked_call{&found->second, std::move(*parsed)};
}

std::string decider::unknown_tool_text(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [known, tool] : profile_.tools)
    names.push_back(known);
  std::sort(names.begin(), names.end());
  return "There is no tool '" + name + "'." + did_you_mean(name, names) +
         " Tools: " + list_names(names, max_named_tools) + ".";
}

policy_verdict decider::judge(const open_call& call, const checked_call& checked) const {
  // What ends or continues the agent itself is not for policy to judge.
  const auto route = checked.tool->route;
  if (profile_.rules == nullptr || route == tool_route::finish_task || route == tool_route::request_input)
    return {};
  const bool dispatch = checked.tool->route == tool_route::dispatch;
  auto also = dispatch ? checked.arguments.value("agent_name", std::string{}) : std::string{};
  const auto* child = dispatch ? remote_child(also) : nullptr;
  auto verdict = profile_.rules->decide(call.name, profile_.name, checked.arguments, also, child != nullptr);
  // What is about to leave this program is told in full.
  if (verdict.decision == policy_decision::ask && child != nullptr)
    verdict.message += (verdict.message.empty() ? "" : " ") + profile_.name +
                       " wants to send this to the remote agent '" + also +
                       "': " + checked.arguments.value("prompt", std::string{});
  return verdict;
}

// The profile of the remote agent of this name; null when there is none.
const agent_profile* decider::remote_child(const std::string& name) const {
  if (profile_.delegates == nullptr)
    return nullptr;
  const auto found = profile_.delegates->agents.find(name);
  return found != profile_.delegates->agents.end() && found->second->is_remote ? found->second.get()
                                                                               : nullptr;
}

void decider::ask(const open_call& call, json schema, std::string message, std::string reason) {
  if (!options_.answerable)
    return resolve(call,
                   tool_result::failure(errc::denied, "This needs an answer from the user, and nobody can "
                                                      "answer in this run, so it counts as denied."));
  if (message.empty())
    message = profile_.name + " wants to call " + call.name + " " + call.arguments;
  asked_.push_back(call.call);
  emit(question_body{call.call, std::move(message), std::move(schema), std::move(reason)});
  command(command::ask{call.call});
}

void decider::ask_for_tool(const open_call& call, const tool_question& question) {
  auto usable = json_schema::compile(question.schema);
  if (!options_.answerable || !usable)
    return go_on(call, {});
  asked_.push_back(call.call);
  emit(question_body{call.call, clean(question.message), question.schema, "tool"});
  command(command::ask{call.call});
}

void decider::go_on(const open_call& call, tool_answer answer) {
  auto checked = check(call);
  if (checked && checked->tool->route == tool_route::function)
    return command(command::call_tool{call.call, call.name, checked->tool->function,
                                      std::move(checked->arguments), std::move(answer)});
  if (!checked)
    after_results();
}

void decider::carry_out(const open_call& call, const checked_call& checked) {
  switch (checked.tool->route) {
  case tool_route::function:
    return start_function(call, checked);
  case tool_route::prebuilt:
    return start(call, order_prebuilt(checked.tool->child, checked.arguments));
  case tool_route::dispatch: {
    auto order = order_dispatch(profile_, checked.arguments);
    if (order)
      return start(call, std::move(*order));
    return resolve(call, tool_result::failure(order.failure().code, order.failure().message));
  }
  case tool_route::spawn:
    return spawn(call, checked.arguments);
  case tool_route::finish_task:
    return finish_task(call, checked.arguments);
  case tool_route::list_background:
    return command(command::manage_tasks{call.call, {}});
  case tool_route::cancel_background:
    return command(
        command::manage_tasks{call.call, call_id{checked.arguments.value("task_id", std::string{})}});
  case tool_route::request_input:
    return request_input(call, checked.arguments);
  }
}

void decider::request_input(const open_call& call, const json& arguments) {
  auto schema = arguments.value("response_schema", json{{"type", "string"}});
  if (auto usable = json_schema::compile(schema); !usable)
    return resolve(call, tool_result::failure(errc::bad_schema, "The response_schema cannot be used: " +
                                                                    usable.failure().message));
  ask(call, std::move(schema), arguments.value("message", std::string{}), "agent");
}

void decider::start(const open_call& call, child_order order, bool background) {
  command(command::start_child{call.call, std::move(order.profile), std::move(order.request), background});
}

void decider::spawn(const open_call& call, const json& arguments) {
  const auto name = arguments.value("name", std::string{});
  // Names of this turn count as taken: those that this step gave out, and those of calls that were asked about.
  auto taken = spawned_;
  for (const auto& other : state_.calls)
    if (other.call != call.call && !other.result && !other.asking && other.name == call.name)
      if (auto parsed = parse_json(other.arguments); parsed && parsed->is_object())
        taken.push_back(parsed->value("name", std::string{}));
  auto order = order_spawn(profile_, arguments, taken);
  if (!order)
    return resolve(call, {prompt_text::spawn_error(name, order.failure().message), order.failure().code, {}});
  spawned_.push_back(name);
  start(call, std::move(*order), in_background(arguments));
}

void decider::finish_task(const open_call& call, const json& arguments) {
  const auto* fields = profile_.output_schema ? profile_.output.get() : nullptr;
  if (fields != nullptr)
    if (auto fits = fields->validate(arguments, errc::bad_arguments, "The result"); !fits)
      return resolve(call, tool_result::failure(errc::bad_arguments, fits.failure().message));
  task_result_ = arguments;
  resolve(call, {"Task completed.", {}, {}});
}

void decider::start_function(const open_call& call, const checked_call& checked) {
  const auto& tool = checked.tool->function;
  if (tool->annotations.exclusive)
    return; // start_exclusive takes it when it is alone
  if (repeatable(*tool))
    command(command::call_tool{call.call, call.name, tool, checked.arguments, {}});
  else
    durable_.push_back(call.call);
}

void decider::run_function(const open_call& call) {
  auto checked = check(call);
  if (checked && checked->tool->route == tool_route::function)
    command(
        command::call_tool{call.call, call.name, checked->tool->function, std::move(checked->arguments), {}});
}

bool decider::is_exclusive(const open_call& call) const {
  auto found = profile_.tools.find(call.name);
  return found != profile_.tools.end() && found->second.route == tool_route::function &&
         found->second.function->annotations.exclusive;
}

// False for an exclusive call while another one of its turn has no result.
bool decider::may_run(const open_call& call) const {
  if (!profile_.has_exclusive_tools || !is_exclusive(call))
    return true;
  return std::none_of(state_.calls.begin(), state_.calls.end(),
                      [&](const open_call& other) { return !other.result && !is_exclusive(other); });
}

void decider::start_exclusive() {
  if (!profile_.has_exclusive_tools || open_ == 0)
    return;
  const open_call* next = nullptr;
  for (const auto& call : turn_calls_ ? *turn_calls_ : state_.calls) {
    if (call.result || has(resolved_, call.call))
      continue;
    if (!is_exclusive(call) || call.asking || has(asked_, call.call))
      return;
    if (next == nullptr)
      next = &call;
  }
  if (next != nullptr)
    durable_.push_back(next->call);
  flush_durable();
}

bool decider::has(const std::vector<call_id>& ids, const call_id& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

void decider::flush_durable() {
  if (!durable_.empty())
    command(command::await_durability{std::exchange(durable_, {})});
}

void decider::resolve(const open_call& call, const tool_result& r, event_timing timing) {
  tool_result_body body;
  body.call = call.call;
  body.name = call.name;
  body.text = cut_text(clean(r.text), profile_.max_result_bytes);
  body.is_error = r.failed.has_value();
  body.code = r.failed;
  std::size_t data_bytes = 0;
  for (const auto& d : r.data)
    data_bytes += d.base64.size() + d.uri.size();
  if (data_bytes <= profile_.max_data_bytes)
    body.data = r.data;
  else
    body.text += prompt_text::data_left_out(data_bytes, profile_.max_data_bytes);
  emit(std::move(body), {}, timing);
  --open_;
  if (profile_.has_exclusive_tools)
    resolved_.push_back(call.call);
}

void decider::resume_call(const open_call& call) {
  if (call.asking)
    return command(command::ask{call.call});
  auto checked = check(call);
  if (!checked)
    return;
  if (checked->tool->route != tool_route::function)
    return carry_out(call, *checked); // the child is found again by its call
  if (repeatable(*checked->tool->function))
    return start_function(call, *checked);
  resolve(call,
          tool_result::failure(errc::interrupted, "The call was interrupted by a restart and may have taken "
                                                  "effect. Check before you repeat it."));
}

void decider::close_calls(errc code, const std::string& why) {
  if (open_ == 0)
    return;
  for (const auto& call : state_.calls) {
    if (call.result)
      continue;
    if (call.asking)
      command(command::question_closed{call.call});
    auto found = profile_.tools.find(call.name);
    if (found != profile_.tools.end() && found->second.route != tool_route::function)
      command(command::cancel_child{call.call,
                                    code == errc::cancelled ? "parent" : std::string{to_string(code)}});
    else
      command(command::cancel_tool{call.call});
    resolve(call, tool_result::failure(code, why));
  }
}

} // namespace troupe
