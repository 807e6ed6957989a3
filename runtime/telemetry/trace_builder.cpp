// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/captured_content.hpp>
#include <troupe/runtime/telemetry/telemetry_names.hpp>
#include <troupe/runtime/telemetry/trace_builder.hpp>
#include <troupe/runtime/telemetry/trace_ids.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t max_reason_bytes = 512;
constexpr std::size_t max_name_bytes = 128; // of a tool, which the model may have made up
constexpr std::size_t max_links = 64;

void put(trace_span& span, std::string_view key, attribute_value value) {
  span.attributes.emplace_back(key, std::move(value));
}

// Not when it is empty.
void put_text(trace_span& span, std::string_view key, std::string text) {
  if (!text.empty())
    put(span, key, std::move(text));
}

std::int64_t number(std::uint64_t n) {
  return static_cast<std::int64_t>(n);
}

double seconds(std::uint32_t us) {
  return static_cast<double>(us) / 1e6;
}

void put_usage(trace_span& span, const usage& used) {
  put(span, otel::usage_input, number(used.input));
  put(span, otel::usage_output, number(used.output));
  if (used.cached > 0)
    put(span, otel::usage_cache_read, number(used.cached));
  if (used.reasoning > 0)
    put(span, otel::usage_reasoning, number(used.reasoning));
  if (used.cost_nano_usd > 0)
    put(span, otel::cost_usd, static_cast<double>(used.cost_nano_usd) / 1e9);
}

void put_error(trace_span& span, errc code, std::string message) {
  put(span, otel::error_type, std::string{to_string(code)});
  span.status = span_status::error;
  span.status_message = std::move(message);
}

std::string named(std::string_view operation, std::string_view what) {
  std::string out{operation};
  if (!what.empty())
    (out += ' ') += what;
  return out;
}

std::string key_of(const event& e, const call_id& call) {
  return e.session().str() + ' ' + call.str();
}

// It tells that the agent is at work.
bool is_work(event_kind kind) {
  return kind == event_kind::model_text || kind == event_kind::thought || kind == event_kind::tool_call ||
         kind == event_kind::tool_result;
}

bool is_answer(event_kind kind) {
  return kind == event_kind::model_text || kind == event_kind::thought || kind == event_kind::tool_call;
}

} // namespace

struct trace_builder::agent_part {
  std::string model; // catalogue id
  std::string parent_call;
  bool background = false;
  usage used{};
  // Span ids of tool calls that were open not long ago. Those that have ended go when it has grown to twice its size.
  struct {
    std::vector<std::string> ids{};
    std::size_t prune_at = 64;
  } calls{};
  std::optional<trace_span> chat{}; // of the newest answer, while pieces of it may come
  std::optional<captured_message> said{};
};

struct trace_builder::open_span {
  std::uint64_t age = 0;
  std::size_t bytes = 0; // that are counted for it
  trace_span span;
  std::unique_ptr<agent_part> agent; // null: it is a tool call
};

trace_builder::trace_builder(trace_options options) : options_(std::move(options)) {}

trace_builder::~trace_builder() = default;

void trace_builder::add(const event& e) {
  newest_ = std::max(newest_, e.time);
  if (const auto* started = e.as<agent_started_body>())
    return begin_agent(e, *started);
  if (is_answer(e.kind()))
    note_answer(e);
  else if (auto* agent = agent_of(e))
    finish_chat(*agent);
  if (const auto* ended = e.as<agent_ended_body>())
    end_agent(e, *ended);
  else if (const auto* call = e.as<tool_call_body>())
    begin_call(e, *call);
  else if (const auto* result = e.as<tool_result_body>())
    end_call(e, *result);
  else if (const auto* background = e.as<background_result_body>())
    note_background(e, *background);
  else
    note(e);
}

// -- agents ---------------------------------------------------------------------------------------------------------------

trace_span trace_builder::agent_span(const event& e) const {
  const auto& origin = *e.origin;
  trace_span span;
  span.trace_id = trace_id_of(options_.seed, origin.run);
  span.span_id = agent_span_id(options_.seed, origin.run, origin.agent);
  if (!origin.parent_call.empty())
    span.parent_id = tool_span_id(options_.seed, origin.session, origin.parent_call);
  span.name = named(otel::op_invoke_agent, origin.author);
  span.start = e.time;
  put(span, otel::operation_name, otel::op_invoke_agent);
  put(span, otel::agent_id, origin.agent.str());
  put(span, otel::agent_name, origin.author);
  put(span, otel::conversation_id, origin.session.str());
  put(span, otel::run_id, origin.run.str());
  put(span, otel::agent_branch, origin.branch);
  return span;
}

void trace_builder::begin_agent(const event& e, const agent_started_body& started) {
  auto span = agent_span(e);
  const auto model = model_of(started.model);
  put_text(span, otel::provider_name, model.provider);
  put_text(span, otel::request_model, model.name);
  put_text(span, otel::agent_kind, started.kind);
  if (started.background)
    put(span, otel::background, true);
  if (e.origin->number == 0)
    if (auto told = told_tasks_.extract(e.session().str()); !told.empty())
      span.links = std::move(told.mapped());
  auto part = std::make_unique<agent_part>();
  part->model = started.model;
  part->background = started.background;
  part->parent_call = e.origin->parent_call.str();
  if (auto before = open_.find(span.span_id); before != open_.end())
    close_incomplete(before);
  open(std::move(span), std::move(part));
}

trace_builder::open_span* trace_builder::agent_of(const event& e) {
  auto found = open_.find(agent_span_id(options_.seed, e.run(), e.agent()));
  return found == open_.end() ? nullptr : &found->second;
}

trace_builder::open_span* trace_builder::adopt(const event& e) {
  if (closed_early_ > 0 || !is_work(e.kind()))
    return nullptr;
  auto span = agent_span(e);
  span.start = e.time - std::chrono::microseconds{e.timing.took};
  put(span, otel::resumed, true);
  auto part = std::make_unique<agent_part>();
  part->parent_call = e.origin->parent_call.str();
  return &open(std::move(span), std::move(part));
}

void trace_builder::end_agent(const event& e, const agent_ended_body& ended) {
  auto found = open_.find(agent_span_id(options_.seed, e.run(), e.agent()));
  if (found == open_.end())
    return;
  auto& agent = found->second;
  auto& span = agent.span;
  span.end = e.time;
  put(span, otel::agent_turns, number(ended.turns));
  put_usage(span, agent.agent->used);
  add_outcome(span, ended.outcome);
  if (agent.agent->background && !agent.agent->parent_call.empty() && ended_tasks_.size() < options_.max_open)
    ended_tasks_.insert_or_assign(key_of(e, e.origin->parent_call), span_link{span.trace_id, span.span_id});
  for (const auto& call : std::exchange(agent.agent->calls.ids, {}))
    if (auto open_call = open_.find(call); open_call != open_.end())
      close_incomplete(open_call);
  close(found);
}

void trace_builder::add_outcome(trace_span& span, const outcome& o) const {
  put(span, otel::outcome, std::string{to_string(o.status())});
  if (o.failed())
    put_error(span, o.code(), shown_text(o.detail(), max_reason_bytes));
  if (o.cancelled())
    put_text(span, otel::cancelled_by, o.by());
  if (o.recovered())
    put(span, otel::recovered, true);
  if (!options_.capture_content || o.text().empty())
    return;
  captured_message said{"assistant", options_.max_content_bytes};
  said.add_text(o.text());
  put(span, otel::output_messages, said.text());
}

// -- calls of models ------------------------------------------------------------------------------------------------------

traced_model trace_builder::model_of(const std::string& id) const {
  traced_model model;
  if (options_.model_of)
    model = options_.model_of(id);
  if (model.name.empty())
    model.name = id;
  return model;
}

trace_span trace_builder::chat_span(const event& e, const agent_part* agent) const {
  const auto& origin = *e.origin;
  const auto model = agent == nullptr ? traced_model{} : model_of(agent->model);
  trace_span span;
  span.trace_id = trace_id_of(options_.seed, origin.run);
  span.span_id = chat_span_id(options_.seed, e.id());
  span.parent_id = agent_span_id(options_.seed, origin.run, origin.agent);
  span.name = named(otel::op_chat, model.name);
  span.kind = span_kind::client;
  span.end = e.time;
  span.start = e.time - std::chrono::microseconds{e.timing.took};
  put(span, otel::operation_name, otel::op_chat);
  put_text(span, otel::provider_name, model.provider);
  put_text(span, otel::request_model, model.name);
  put(span, otel::agent_name, origin.author);
  put(span, otel::conversation_id, origin.session.str());
  put_usage(span, e.usage);
  if (e.timing.first > 0) {
    put(span, otel::request_stream, true);
    put(span, otel::time_to_first_chunk, seconds(e.timing.first));
  }
  if (e.timing.queued > 0)
    put(span, otel::queue_wait, seconds(e.timing.queued));
  return span;
}

void trace_builder::note_answer(const event& e) {
  auto* agent = agent_of(e);
  if (agent == nullptr)
    agent = adopt(e);
  if (e.timing.took > 0) {
    auto span = chat_span(e, agent == nullptr ? nullptr : agent->agent.get());
    // With its content it waits for all pieces of the answer.
    if (agent == nullptr || !options_.capture_content) {
      finished_.push_back(std::move(span));
    } else {
      finish_chat(*agent);
      agent->agent->chat = std::move(span);
      agent->agent->said.emplace("assistant", options_.max_content_bytes);
    }
  }
  if (agent == nullptr)
    return;
  agent->agent->used += e.usage;
  auto& said = agent->agent->said;
  if (!said)
    return;
  const auto before = said->bytes();
  if (const auto* text = e.as<model_text_body>())
    said->add_text(text->text);
  else if (const auto* thought = e.as<thought_body>())
    said->add_thought(thought->text);
  else if (const auto* call = e.as<tool_call_body>())
    said->add_call(call->call.str(), call->name, call->arguments);
  grow(*agent, said->bytes() - before);
}

void trace_builder::finish_chat(open_span& agent) {
  auto chat = std::exchange(agent.agent->chat, std::nullopt);
  auto said = std::exchange(agent.agent->said, std::nullopt);
  if (said)
    shrink(agent, said->bytes());
  if (!chat)
    return;
  if (said && !said->empty())
    put(*chat, otel::output_messages, said->text());
  finished_.push_back(std::move(*chat));
}

// -- calls of tools -------------------------------------------------------------------------------------------------------

trace_span trace_builder::call_span(const event& e, const call_id& call, const std::string& tool) const {
  const auto& origin = *e.origin;
  const auto name = shown_text(tool, max_name_bytes);
  trace_span span;
  span.trace_id = trace_id_of(options_.seed, origin.run);
  span.span_id = tool_span_id(options_.seed, origin.session, call);
  span.parent_id = agent_span_id(options_.seed, origin.run, origin.agent);
  span.name = named(otel::op_execute_tool, name);
  span.start = e.time;
  put(span, otel::operation_name, otel::op_execute_tool);
  put(span, otel::tool_name, name);
  put(span, otel::tool_type, "function");
  put(span, otel::tool_call_id, call.str());
  put(span, otel::agent_name, origin.author);
  put(span, otel::conversation_id, origin.session.str());
  return span;
}

void trace_builder::begin_call(const event& e, const tool_call_body& call) {
  auto span = call_span(e, call.call, call.name);
  if (options_.capture_content)
    put_text(span, otel::tool_arguments, shown_arguments(call.arguments, options_.max_content_bytes));
  if (auto before = open_.find(span.span_id); before != open_.end())
    close_incomplete(before);
  if (auto* agent = agent_of(e)) {
    auto& [calls, prune_at] = agent->agent->calls;
    if (calls.size() >= prune_at) {
      std::erase_if(calls, [this](const std::string& known) { return !open_.contains(known); });
      prune_at = std::max(prune_at, 2 * calls.size());
    }
    calls.push_back(span.span_id);
  }
  open(std::move(span));
}

void trace_builder::end_call(const event& e, const tool_result_body& result) {
  if (agent_of(e) == nullptr)
    adopt(e);
  auto found = open_.find(tool_span_id(options_.seed, e.session(), result.call));
  const bool is_known = found != open_.end();
  auto span = is_known ? std::move(found->second.span) : call_span(e, result.call, result.name);
  if (is_known) {
    shrink(found->second, found->second.bytes);
    by_age_.erase(found->second.age);
    open_.erase(found);
  } else {
    put(span, otel::resumed, true);
    span.start = e.time - std::chrono::microseconds{e.timing.took};
  }
  span.end = e.time;
  if (e.timing.took > 0)
    span.start = std::max(span.start, e.time - std::chrono::microseconds{e.timing.took});
  if (result.is_error) {
    const auto code = result.code.value_or(errc::tool_failed);
    put_error(span, code,
              options_.capture_content ? shown_text(result.text, max_reason_bytes)
                                       : std::string{describe(code)});
  }
  if (options_.capture_content)
    put_text(span, otel::tool_result, shown_text(result.text, options_.max_content_bytes));
  finished_.push_back(std::move(span));
}

// -- what else happens ----------------------------------------------------------------------------------------------------

void trace_builder::add_note(const event& e, std::string_view name, attribute_list attributes) {
  auto* agent = agent_of(e);
  if (agent == nullptr)
    return;
  if (agent->span.events.size() >= options_.max_events) {
    ++agent->span.dropped_events;
    return;
  }
  grow(*agent, sizeof(span_event) + approximate_bytes(attributes));
  agent->span.events.push_back({e.time, name, std::move(attributes)});
}

void trace_builder::note(const event& e) {
  auto said = [this](const std::string& text) {
    return options_.capture_content ? shown_text(text, options_.max_content_bytes) : std::string{};
  };
  auto reason = [](const std::string& text) { return shown_text(text, max_reason_bytes); };
  if (const auto* user = e.as<user_message_body>()) {
    auto* agent = options_.capture_content && user->content ? agent_of(e) : nullptr;
    if (agent == nullptr)
      return;
    captured_message asked{"user", options_.max_content_bytes};
    asked.add(*user->content);
    put(agent->span, otel::input_messages, asked.text());
    grow(*agent, asked.bytes());
  } else if (const auto* warning = e.as<warning_body>()) {
    add_note(e, otel::event_warning,
             {{otel::error_type, std::string{to_string(warning->code)}},
              {otel::message, reason(warning->message)}});
  } else if (const auto* error = e.as<error_body>()) {
    add_note(e, otel::event_exception,
             {{otel::error_type, std::string{to_string(error->code)}},
              {otel::exception_message, reason(error->message)}});
  } else if (const auto* question = e.as<question_body>()) {
    add_note(e, otel::event_question,
             {{otel::question_id, question->question.str()}, {otel::message, said(question->message)}});
  } else if (const auto* answer = e.as<answer_body>()) {
    add_note(e, otel::event_answer, {{otel::question_id, answer->question.str()}, {otel::by, answer->by}});
  } else if (const auto* hint = e.as<steering_body>()) {
    add_note(e, otel::event_steering, {{otel::by, hint->by}, {otel::message, said(hint->text)}});
  } else if (const auto* summed = e.as<compaction_body>()) {
    if (auto* agent = agent_of(e))
      agent->agent->used += e.usage;
    add_note(e, otel::event_compaction, {{otel::contents, number(summed->contents)}});
  }
}

void trace_builder::note_background(const event& e, const background_result_body& result) {
  add_note(e, otel::event_background_result,
           {{otel::task_id, result.task.str()},
            {otel::agent_name, result.name},
            {otel::outcome, std::string{to_string(result.outcome.status())}}});
  auto ended = ended_tasks_.extract(key_of(e, result.task));
  if (ended.empty())
    return;
  auto* agent = agent_of(e);
  if (agent == nullptr && told_tasks_.size() >= options_.max_open)
    return;
  auto& links = agent != nullptr ? agent->span.links : told_tasks_[e.session().str()];
  if (links.size() < max_links)
    links.push_back(std::move(ended.mapped()));
}

// -- open spans -----------------------------------------------------------------------------------------------------------

trace_builder::open_span& trace_builder::open(trace_span span, std::unique_ptr<agent_part> agent) {
  make_room();
  const auto age = next_age_++;
  auto id = span.span_id;
  by_age_.emplace(age, id);
  const auto bytes = approximate_bytes(span);
  auto& one = open_.insert_or_assign(std::move(id), open_span{age, 0, std::move(span), std::move(agent)})
                  .first->second;
  grow(one, bytes);
  return one;
}

void trace_builder::grow(open_span& one, std::size_t bytes) {
  one.bytes += bytes;
  open_bytes_ += bytes;
}

void trace_builder::shrink(open_span& one, std::size_t bytes) {
  one.bytes -= bytes;
  open_bytes_ -= bytes;
}

void trace_builder::close(found_span which) {
  if (which->second.agent)
    finish_chat(which->second);
  shrink(which->second, which->second.bytes);
  by_age_.erase(which->second.age);
  finished_.push_back(std::move(which->second.span));
  open_.erase(which);
}

void trace_builder::close_incomplete(found_span which) {
  auto& open_one = which->second;
  open_one.span.end = std::max(newest_, open_one.span.start);
  put(open_one.span, otel::incomplete, true);
  if (open_one.agent)
    put_usage(open_one.span, open_one.agent->used);
  close(which);
}

void trace_builder::make_room() {
  while (!by_age_.empty() && (open_.size() >= options_.max_open || open_bytes_ >= options_.max_open_bytes)) {
    close_incomplete(open_.find(by_age_.begin()->second));
    ++closed_early_;
  }
}

void trace_builder::close_all() {
  // The newest first: what is below ends before what is above.
  while (!by_age_.empty())
    close_incomplete(open_.find(by_age_.rbegin()->second));
}

std::vector<trace_span> trace_builder::take() {
  return std::exchange(finished_, {});
}

} // namespace troupe
