// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/delegate.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/session_fold.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace troupe {
namespace {

std::uint32_t number_of(const run_id& run) {
  const std::string_view text = run.str();
  const auto slash = text.rfind("/r");
  std::uint32_t number = 0;
  if (slash != std::string_view::npos)
    std::from_chars(text.data() + slash + 2, text.data() + text.size(), number);
  return number;
}

} // namespace

void session_fold::add(const event& e) {
  session_.last_seq = e.seq;
  session_.next_agent = std::max(session_.next_agent, e.origin->number + 1);
  session_.next_run = std::max(session_.next_run, number_of(e.run()) + 1);
  note_question(e);
  if (e.origin->number == 0)
    add_root(e);
  else
    add_child(e);
  if (session_.root_origin && e.run() == session_.root_origin->run)
    session_.run_tokens += e.usage.total();
}

void session_fold::add_root(const event& e) {
  session_.root_origin = e.origin;
  if (const auto* started = e.as<agent_started_body>()) {
    session_.wakes = started->background ? session_.wakes + 1 : 0;
    session_.run_children = 0;
    session_.run_tokens = 0;
  } else if (const auto* result = e.as<tool_result_body>()) {
    launch(*result, e.run());
    std::erase_if(session_.children, [&](const auto& entry) {
      return !entry.second.started.background && entry.second.origin->parent_call == result->call;
    });
  } else if (const auto* delivered = e.as<background_result_body>()) {
    if (find_open(session_.root, delivered->task) != nullptr)
      delivered_early_.push_back(delivered->task);
    std::erase_if(session_.tasks, [&](const folded_task& t) { return t.task == delivered->task; });
    std::erase_if(session_.children,
                  [&](const auto& entry) { return entry.second.origin->parent_call == delivered->task; });
  }
  apply_to(session_.root, e);
}

// The call of a child that works in the background has its result at once.
void session_fold::launch(const tool_result_body& result, const run_id& run) {
  const auto* call = find_open(session_.root, result.call);
  if (std::erase(delivered_early_, result.call) > 0)
    return;
  if (call == nullptr || result.is_error || call->name != "spawn_subagent" || find_task(result.call))
    return;
  auto arguments = parse_json(call->arguments);
  if (!arguments || !arguments->is_object() || !in_background(*arguments))
    return;
  session_.tasks.push_back(
      {result.call, arguments->value("name", std::string{}), call->arguments, run, 0, std::nullopt});
}

void session_fold::add_child(const event& e) {
  const auto number = e.origin->number;
  if (const auto* started = e.as<agent_started_body>()) {
    auto& child = session_.children[number];
    child.origin = e.origin;
    child.started = *started;
    child.state.number = number;
    if (session_.root_origin && e.run() == session_.root_origin->run)
      ++session_.run_children;
    if (started->background) {
      auto* task = find_task(e.origin->parent_call);
      if (task == nullptr) {
        const auto* call = find_open(session_.root, e.origin->parent_call);
        session_.tasks.push_back(
            {e.origin->parent_call, started->name, call ? call->arguments : std::string{}, e.run(), 0, {}});
        task = &session_.tasks.back();
      }
      task->child = number;
    }
  }
  auto found = session_.children.find(number);
  if (found == session_.children.end())
    return;
  auto& child = found->second;
  if (const auto* ended = e.as<agent_ended_body>())
    return end_child(child, *ended);
  apply_to(child.state, e);
}

void session_fold::end_child(folded_child& child, const agent_ended_body& ended) {
  std::erase_if(session_.questions, [&child](const auto& entry) {
    agent_number asker = 0;
    return agent_of_call(entry.first, asker) && asker == child.state.number;
  });
  child.ended = ended.outcome;
  child.state = agent_state{};
  child.state.number = child.origin->number;
  child.state.phase = agent_phase::ended;
  if (auto* task = find_task(child.origin->parent_call))
    task->ended = ended.outcome;
}

void session_fold::note_question(const event& e) {
  if (const auto* question = e.as<question_body>())
    session_.questions.insert_or_assign(question->question, *question);
  else if (const auto* answer = e.as<answer_body>())
    session_.questions.erase(answer->question);
  else if (const auto* result = e.as<tool_result_body>())
    session_.questions.erase(result->call);
}

folded_task* session_fold::find_task(const call_id& task) {
  auto found = std::find_if(session_.tasks.begin(), session_.tasks.end(),
                            [&task](const folded_task& t) { return t.task == task; });
  return found == session_.tasks.end() ? nullptr : &*found;
}

} // namespace troupe
