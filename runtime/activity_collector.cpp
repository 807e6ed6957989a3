// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/free_memory.hpp>
#include <troupe/runtime/activity_collector.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t current_width = shown_lengths::current + shown_lengths::beyond;
constexpr std::size_t prompt_width = shown_lengths::prompt + shown_lengths::beyond;

std::string short_line(std::string_view text) {
  return std::string{utf8_prefix(text.substr(0, text.find('\n')), current_width)};
}

std::optional<activity_state> state_after(const event& e) {
  switch (e.kind()) {
  case event_kind::user_message:
  case event_kind::tool_result:
  case event_kind::delivered:
    return activity_state::thinking;
  case event_kind::tool_call:
    return activity_state::working;
  case event_kind::question:
    return activity_state::waiting;
  case event_kind::answer:
    return activity_state::working;
  case event_kind::agent_ended: {
    const auto& o = e.as<agent_ended_body>()->outcome;
    return o.completed() ? activity_state::completed
           : o.failed()  ? activity_state::failed
                         : activity_state::cancelled;
  }
  default:
    return std::nullopt;
  }
}

std::string call_line(const tool_call_body& call) {
  std::string line = call.name;
  line += ' ';
  line += std::string_view{call.arguments}.substr(0, current_width);
  return short_line(line);
}

std::optional<std::string> current_after(const event& e) {
  switch (e.kind()) {
  case event_kind::user_message:
  case event_kind::delivered:
    return "thinking";
  case event_kind::thought:
    return short_line(e.as<thought_body>()->text);
  case event_kind::model_text:
    return short_line(e.as<model_text_body>()->text);
  case event_kind::tool_call:
    return call_line(*e.as<tool_call_body>());
  case event_kind::question:
    return short_line("asks: " + e.as<question_body>()->message);
  case event_kind::warning:
    return short_line(e.as<warning_body>()->message);
  case event_kind::error:
    return short_line(e.as<error_body>()->message);
  case event_kind::agent_ended: {
    const auto& o = e.as<agent_ended_body>()->outcome;
    if (o.failed())
      return short_line(std::string{to_string(o.code())} + ": " + o.detail());
    return o.cancelled() ? short_line("by " + o.by()) : short_line(o.text());
  }
  default:
    return std::nullopt;
  }
}

std::string first_text(const content& message) {
  for (const auto& p : message.parts)
    if (const auto* text = std::get_if<text_part>(&p.value))
      return std::string{utf8_prefix(text->text, prompt_width)};
  return {};
}

// What the user said last.
std::string last_prompt(const transcript& conversation) {
  for (auto i = conversation.size(); i > 0; --i)
    if (conversation[i - 1]->role == role::user)
      if (auto text = first_text(*conversation[i - 1]); !text.empty())
        return text;
  return {};
}

// The turn of a piece of a model's answer.
std::optional<std::uint32_t> turn_of(const event& e) {
  if (const auto* text = e.as<model_text_body>())
    return text->turn;
  if (const auto* thought = e.as<thought_body>())
    return thought->turn;
  if (const auto* call = e.as<tool_call_body>())
    return call->turn;
  return std::nullopt;
}

} // namespace

activity_collector::activity_collector(session_id session)
    : session_(std::move(session)), pending_(std::make_shared<activity_delta>()) {
  pending_->session = session_;
}

agent_delta& activity_collector::entry(const event_origin_ptr& origin) {
  auto [found, fresh] = index_.try_emplace(origin->number, pending_->agents.size());
  if (fresh) {
    pending_->agents.emplace_back();
    pending_->agents.back().origin = origin;
  }
  changed_ = true;
  return pending_->agents[found->second];
}

void activity_collector::add(const event_batch_ptr& batch, bool followed) {
  const auto& events = *batch;
  auto& agent = entry(events.front().origin);
  std::optional<std::uint32_t> turn; // all pieces of an answer come in one batch
  for (const auto& e : events) {
    add(e, agent);
    if (auto piece = turn_of(e); piece && piece != turn) {
      turn = piece;
      ++agent.counts.turns;
    }
  }
  pending_->last_seq = std::max(pending_->last_seq, events.back().seq);
  // Only the newest line of the batch is ever shown.
  for (auto e = events.rbegin(); e != events.rend(); ++e)
    if (auto line = current_after(*e)) {
      agent.current = std::move(*line);
      break;
    }
  if (followed)
    follow(batch);
}

void activity_collector::add(const event& e, agent_delta& agent) {
  agent.origin = e.origin;
  agent.changed_at = e.time;
  pending_->totals.add(e);
  agent.counts.usage += e.usage;
  agent.items.add(e);
  if (auto state = state_after(e)) {
    agent.state = *state;
    agent.waiting_for.emplace();
  }
  switch (e.kind()) {
  case event_kind::agent_started:
    agent.started = *e.as<agent_started_body>();
    agent.started_at = e.time;
    break;
  case event_kind::user_message:
    if (e.origin->number == 0)
      pending_->prompt = first_text(*e.as<user_message_body>()->content);
    break;
  case event_kind::tool_call:
    ++agent.counts.tool_calls;
    break;
  case event_kind::tool_result:
    count_tool(e, *e.as<tool_result_body>());
    agent.counts.failed_calls += e.as<tool_result_body>()->is_error ? 1 : 0;
    agent.closed.push_back(e.as<tool_result_body>()->call);
    break;
  case event_kind::question:
    agent.asked.push_back({e.as<question_body>()->question, e.origin->number, e.origin->author,
                           *e.as<question_body>(), e.time});
    break;
  case event_kind::answer:
    agent.closed.push_back(e.as<answer_body>()->question);
    break;
  default:
    break;
  }
}

void activity_collector::count_tool(const event& e, const tool_result_body& result) {
  auto& tools = pending_->tools;
  auto found = tools.find(result.name);
  if (found == tools.end())
    found = tools.try_emplace(tools.size() < max_tools ? result.name : std::string{}).first;
  ++found->second.calls;
  found->second.errors += result.is_error ? 1 : 0;
  if (e.timing.took > 0)
    found->second.time.add(e.timing.took);
}

void activity_collector::follow(const event_batch_ptr& batch) {
  for (const auto& e : *batch) {
    if (pending_->events.size() < max_events)
      pending_->events.emplace_back(batch, &e);
    else
      ++pending_->events_dropped;
  }
}

void activity_collector::restore(const event_origin_ptr& origin, agent_started_body started,
                                 const agent_state& state, const std::vector<question_body>& open,
                                 timestamp now) {
  auto& d = entry(origin);
  d.started = std::move(started);
  d.started_at = d.changed_at = now;
  d.state = state.open > 0 ? activity_state::working : activity_state::thinking;
  d.current = "resumed";
  d.restored = true;
  for (const auto& call : state.calls)
    if (!call.result)
      d.items.begin(call.call, call.name, call.arguments, now);
  for (const auto& question : open)
    d.asked.push_back({question.question, origin->number, origin->author, question, now});
  if (origin->number == 0)
    pending_->prompt = last_prompt(state.conversation);
}

void activity_collector::note_waiting(const event_origin_ptr& origin, std::string what) {
  entry(origin).waiting_for = std::move(what);
}

void activity_collector::note_closed(std::string why) {
  pending_->closed = std::move(why);
  changed_ = true;
}

void activity_collector::note_queued(std::uint32_t runs) {
  if (runs == queued_runs_)
    return;
  queued_runs_ = runs;
  pending_->queued_runs = runs;
  changed_ = true;
}

std::shared_ptr<activity_delta> activity_collector::take() {
  auto delta = std::exchange(pending_, std::make_shared<activity_delta>());
  pending_->session = session_;
  // Clearing takes as long as the index once was large, and most deltas are of few agents.
  if (index_.bucket_count() > 4 * (index_.size() + 16))
    free_memory(index_);
  else
    index_.clear();
  changed_ = false;
  return delta;
}

} // namespace troupe
