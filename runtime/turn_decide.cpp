// What follows from an input.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/delegate.hpp>
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool_names.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

using nlohmann::json;

constexpr std::size_t max_named_tools = 64; // in the answer to a call of an unknown tool

std::string clean(std::string text) {
  return is_valid_utf8(text) ? std::move(text) : valid_utf8(text);
}

bool repeatable(const tool_definition& tool) {
  return tool.annotations.read_only || tool.annotations.idempotent;
}

bool allows(const json& answer) {
  if (answer.is_boolean())
    return answer.get<bool>();
  if (answer.is_string())
    return answer == "allow" || answer == "yes";
  return answer.is_object() && answer.contains("decision") && answer["decision"] == "allow";
}

// A call that passed all checks.
struct checked_call {
  const bound_tool* tool = nullptr;
  json arguments;
};

class decider {
 public:
  decider(const agent_profile& profile, const agent_state& state, const decide_options& options)
      : profile_(profile), state_(state), options_(options), open_(state.open), run_turns_(state.run_turns) {}

  step take() { return std::move(out_); }

  void on(const input::start& in) {
    if (state_.phase != agent_phase::idle)
      return;
    run_turns_ = 0;
    emit(agent_started_body{profile_.name, in.kind, profile_.model, in.parent, in.background});
    emit(user_message_body{in.request});
    command(command::set_deadline{input::deadline_kind::run, profile_.limits.timeout});
    ask_model();
  }

  void on(const input::model_done& in) {
    if (state_.phase != agent_phase::thinking && state_.phase != agent_phase::grace)
      return;
    const auto& parts = in.response.parts;
    auto calls = emit_answer(in.response);
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

  void on(const input::model_failed& in) {
    if (state_.phase != agent_phase::thinking && state_.phase != agent_phase::grace)
      return;
    emit(error_body{in.error.code, clean(in.error.message)});
    if (state_.phase == agent_phase::grace)
      return finish(outcome::make_failed(state_.limit->code, state_.limit->message, state_.last_text));
    finish(outcome::make_failed(in.error.code, clean(in.error.message), state_.last_text));
  }

  void on(const input::tool_done& in) {
    const auto* call = find_open(state_, in.call);
    if (call == nullptr)
      return;
    for (const auto& [key, value] : in.result.state)
      emit(state_body{key, value});
    resolve(*call, in.result);
    after_results();
  }

  void on(const input::child_done& in) {
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

  void on(const input::durable& in) {
    for (const auto& id : in.calls)
      if (const auto* call = find_open(state_, id))
        run_function(*call);
  }

  void on(const input::steer& in) { emit(steering_body{clean(in.text), in.by}); }

  void on(const input::background_result& in) { emit(background_result_body{in.result}); }

  void on(const input::answer& in) {
    const auto* call = find_open(state_, in.question);
    if (call == nullptr || !call->asking)
      return;
    emit(answer_body{in.question, in.value, in.by});
    command(command::question_closed{in.question});
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

  void on(const input::deadline& in) {
    if (in.kind == input::deadline_kind::grace) {
      if (state_.phase != agent_phase::grace)
        return;
      command(command::cancel_model{});
      return finish(outcome::make_failed(state_.limit->code, state_.limit->message, state_.last_text));
    }
    limit(errc::timeout, "The agent may run for " + std::to_string(profile_.limits.timeout.count()) + " ms.");
  }

  void on(const input::out_of_budget& in) { limit(errc::budget, in.message); }

  void on(const input::give_up& in) {
    if (!running())
      return;
    emit(error_body{in.code, clean(in.message)});
    close_calls(in.code, "The agent gave up: " + clean(in.message));
    command(command::cancel_model{});
    finish(outcome::make_failed(in.code, clean(in.message), state_.last_text));
  }

  void on(const input::cancel& in) {
    if (!running())
      return;
    close_calls(errc::cancelled, "Cancelled by " + in.by + ".");
    command(command::cancel_model{});
    finish(outcome::make_cancelled(in.by, state_.last_text));
  }

  void on(const input::resumed&) {
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

  void on(const input::note& in) { emit(in.body); }

 private:
  [[nodiscard]] bool running() const {
    return state_.phase != agent_phase::idle && state_.phase != agent_phase::ended;
  }

  void emit(event_body body, troupe::usage used = {}) { out_.events.push_back({std::move(body), used}); }
  void command(agent_command c) { out_.commands.push_back(std::move(c)); }

  // The answer's parts as events, in their order; gives the number of calls.
  std::size_t emit_answer(const model_response& response) {
    ++run_turns_;
    const auto turn = state_.turns;
    std::uint32_t calls = 0;
    auto used = response.usage;
    for (const auto& p : response.parts) {
      if (const auto* text = std::get_if<text_part>(&p.value)) {
        emit(model_text_body{turn, clean(text->text), p.blob}, std::exchange(used, {}));
      } else if (const auto* thought = std::get_if<thought_part>(&p.value)) {
        emit(thought_body{turn, clean(thought->text), p.blob}, std::exchange(used, {}));
      } else if (const auto* call = std::get_if<tool_call_part>(&p.value)) {
        emit(tool_call_body{turn, make_call_id(state_.number, turn, calls), clean(call->name),
                            clean(call->arguments), p.blob},
             std::exchange(used, {}));
        ++calls;
      }
    }
    if (response.parts.empty())
      emit(model_text_body{turn, {}, {}}, used);
    return calls;
  }

  void begin_calls(const std::vector<part>& parts) {
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

  // Checks a new call and starts it, asks about it, or gives it its error.
  void begin(const open_call& call) {
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

  // The call's tool and arguments; a call that fails is resolved here and gives nothing.
  std::optional<checked_call> check(const open_call& call) {
    auto found = profile_.tools.find(call.name);
    if (found == profile_.tools.end()) {
      resolve(call, tool_result::failure(errc::unknown_tool, unknown_tool_text(call.name)));
      return std::nullopt;
    }
    auto parsed = parse_json(call.arguments.empty() ? "{}" : std::string_view{call.arguments});
    if (!parsed) {
      resolve(call,
              tool_result::failure(errc::bad_arguments, "The arguments are not JSON that can be read: " +
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

  std::string unknown_tool_text(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [known, tool] : profile_.tools)
      names.push_back(known);
    std::sort(names.begin(), names.end());
    return "There is no tool '" + name + "'." + did_you_mean(name, names) +
           " Tools: " + list_names(names, max_named_tools) + ".";
  }

  policy_verdict judge(const open_call& call, const checked_call& checked) const {
    if (profile_.rules == nullptr)
      return {};
    const bool dispatch = checked.tool->route == tool_route::dispatch;
    auto also = dispatch ? checked.arguments.value("agent_name", std::string{}) : std::string{};
    return profile_.rules->decide(call.name, profile_.name, checked.arguments, also);
  }

  void ask(const open_call& call, json schema, std::string message, std::string reason) {
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

  void carry_out(const open_call& call, const checked_call& checked) {
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
    case tool_route::request_input:
      return ask(call, checked.arguments.value("response_schema", json{{"type", "string"}}),
                 checked.arguments.value("message", std::string{}), "agent");
    }
  }

  void start(const open_call& call, child_order order) {
    command(command::start_child{call.call, std::move(order.profile), std::move(order.request)});
  }

  void spawn(const open_call& call, const json& arguments) {
    const auto name = arguments.value("name", std::string{});
    auto order = order_spawn(profile_, arguments, spawned_);
    if (!order)
      return resolve(call,
                     {prompt_text::spawn_error(name, order.failure().message), order.failure().code, {}});
    spawned_.push_back(name);
    start(call, std::move(*order));
  }

  void finish_task(const open_call& call, const json& arguments) {
    const auto* fields = profile_.output_schema ? profile_.output.get() : nullptr;
    if (fields != nullptr)
      if (auto fits = fields->validate(arguments, errc::bad_arguments, "The result"); !fits)
        return resolve(call, tool_result::failure(errc::bad_arguments, fits.failure().message));
    task_result_ = arguments;
    resolve(call, {"Task completed.", {}, {}});
  }

  void start_function(const open_call& call, const checked_call& checked) {
    const auto& tool = checked.tool->function;
    if (tool->annotations.exclusive)
      return; // start_exclusive takes it when it is alone
    if (repeatable(*tool))
      command(command::call_tool{call.call, call.name, tool, checked.arguments});
    else
      durable_.push_back(call.call);
  }

  // Runs a function whose start is durable.
  void run_function(const open_call& call) {
    auto checked = check(call);
    if (checked && checked->tool->route == tool_route::function)
      command(
          command::call_tool{call.call, call.name, checked->tool->function, std::move(checked->arguments)});
  }

  [[nodiscard]] bool is_exclusive(const open_call& call) const {
    auto found = profile_.tools.find(call.name);
    return found != profile_.tools.end() && found->second.route == tool_route::function &&
           found->second.function->annotations.exclusive;
  }

  // An exclusive call starts when every other call of its turn has its result; several start one after the other.
  void start_exclusive() {
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

  [[nodiscard]] static bool has(const std::vector<call_id>& ids, const call_id& id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  }

  void flush_durable() {
    if (!durable_.empty())
      command(command::await_durability{std::exchange(durable_, {})});
  }

  void resolve(const open_call& call, const tool_result& r) {
    tool_result_body body;
    body.call = call.call;
    body.name = call.name;
    body.text = cut_text(clean(r.text), profile_.max_result_bytes);
    body.is_error = r.failed.has_value();
    body.code = r.failed;
    emit(std::move(body));
    --open_;
    if (profile_.has_exclusive_tools)
      resolved_.push_back(call.call);
  }

  void resume_call(const open_call& call) {
    if (call.asking)
      return command(command::ask{call.call});
    auto checked = check(call);
    if (!checked || checked->tool->route != tool_route::function)
      return; // a child resumes in place and reports by itself
    if (repeatable(*checked->tool->function))
      return start_function(call, *checked);
    resolve(call, tool_result::failure(errc::interrupted,
                                       "The call was interrupted by a restart and may have taken "
                                       "effect. Check before you repeat it."));
  }

  void after_results() {
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

  // The arguments of the finish_task that was accepted in this turn.
  std::optional<json> finished_task() {
    if (profile_.mode != agent_mode::task)
      return std::nullopt;
    if (task_result_)
      return std::exchange(task_result_, {});
    for (const auto& call : state_.calls) {
      if (call.name != "finish_task" || !call.result || call.result->is_error)
        continue;
      if (auto parsed = parse_json(call.arguments))
        return std::move(*parsed);
    }
    return std::nullopt;
  }

  outcome complete_task(json value) const {
    if (profile_.output_schema)
      return outcome::make_completed(dump_json(value), value);
    return outcome::make_completed(value.value("result", std::string{}));
  }

  void end_without_calls() {
    if (!state_.hints.empty() || !state_.background.empty()) {
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

  void nudge() {
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

  // The JSON value of an answer; a fence around it is taken off.
  result<json> structured(std::string_view text) const {
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

  void end_grace(const std::vector<part>& parts) {
    bool answered = false;
    std::optional<json> value;
    std::uint32_t index = 0;
    for (const auto& p : parts) {
      const auto* call = std::get_if<tool_call_part>(&p.value);
      if (call == nullptr)
        continue;
      open_call c;
      c.call = make_call_id(state_.number, state_.turns, index++);
      c.name = clean(call->name);
      c.arguments = clean(call->arguments);
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

  // What the model said in this step.
  [[nodiscard]] std::string said() const {
    std::string text;
    for (const auto& e : out_.events)
      if (const auto* t = std::get_if<model_text_body>(&e.body))
        text += t->text;
    return text;
  }

  // A limit: every open call gets its result, then comes one last model call.
  void limit(errc code, std::string message) {
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

  // Only for inputs from outside the turn: a step that resolved calls itself has none open when it gets here.
  void close_calls(errc code, const std::string& why) {
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

  void deliver() {
    if (state_.hints.empty() && state_.background.empty())
      return;
    emit(delivered_body{static_cast<std::uint32_t>(state_.hints.size()),
                        static_cast<std::uint32_t>(state_.background.size())});
  }

  void ask_model() {
    deliver();
    command(command::call_model{});
  }

  void fail(errc code, std::string detail) {
    emit(error_body{code, detail});
    finish(outcome::make_failed(code, std::move(detail), said()));
  }

  void finish(outcome o) {
    emit(agent_ended_body{o, run_turns_});
    command(command::clear_deadline{input::deadline_kind::run});
    command(command::clear_deadline{input::deadline_kind::grace});
    command(command::finish{std::move(o)});
  }

  const agent_profile& profile_;
  const agent_state& state_;
  const decide_options& options_;
  step out_;
  std::uint32_t open_;      // calls without result, after this step's events
  std::uint32_t run_turns_; // likewise
  std::vector<call_id> durable_;
  std::vector<call_id> resolved_; // by this step; kept only where exclusive tools need it
  std::vector<call_id> asked_;
  std::vector<std::string> spawned_;
  const std::vector<open_call>* turn_calls_ = nullptr; // the calls that this step makes
  std::optional<json> task_result_;
};

} // namespace

step decide(const agent_profile& profile, const agent_state& state, const agent_input& in,
            const decide_options& options) {
  decider d{profile, state, options};
  std::visit([&d](const auto& value) { d.on(value); }, in);
  return d.take();
}

} // namespace troupe
