// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/a2a_tasks.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace troupe::net {

using a2a::task_state;
using nlohmann::json;

namespace {

timestamp wall_now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::vector<a2a::part> text_parts(std::string text) {
  return {{a2a::part::form::text, std::move(text), {}, {}, {}}};
}

// What a run can end with before it was taken up: the agent did not take the task.
bool is_refusal(errc code) {
  return code == errc::busy || code == errc::shutting_down || code == errc::not_allowed ||
         code == errc::denied;
}

std::string reason_of(const outcome& ended) {
  if (ended.cancelled())
    return "Cancelled by " + ended.by() + ".";
  return std::string{to_string(ended.code())} + ": " + ended.detail();
}

std::string message_key(const std::string& agent, const std::string& message) {
  return agent + "\n" + message;
}

} // namespace

task_state state_of_outcome(const outcome& ended) noexcept {
  if (ended.completed())
    return task_state::completed;
  if (ended.cancelled())
    return task_state::canceled;
  if (ended.code() == errc::needs_input)
    return task_state::input_required;
  return is_refusal(ended.code()) ? task_state::rejected : task_state::failed;
}

std::string a2a_timestamp(timestamp at) {
  const auto days = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{days};
  const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::milliseconds>(at - days)};
  std::array<char, 48> text{};
  const auto length = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

a2a_task::a2a_task(std::string agent_name, session_id of, std::shared_ptr<std::atomic<std::uint64_t>> clock)
    : agent(std::move(agent_name)), session(std::move(of)), clock_(std::move(clock)) {
  status_.state = task_state::submitted;
  status_.timestamp = a2a_timestamp(wall_now());
  turn_ = ++*clock_;
}

void a2a_task::add_message(a2a::message said) {
  std::lock_guard guard{mutex_};
  said.task = id_;
  said.context = session.str();
  history_.push_back(std::move(said));
  if (history_.size() > max_history)
    history_.pop_front();
}

// -- what the run does --------------------------------------------------------------------------------------------------

void a2a_task::follow(run_feed& feed) {
  {
    std::lock_guard guard{mutex_};
    if (a2a::is_terminal(status_.state))
      return;
    if (status_.state == task_state::submitted && !feed.run().empty())
      set_state(task_state::working, {}, {});
    while (auto batch = feed.next(std::chrono::steady_clock::now()))
      take(**batch);
    if (const auto ended = feed.result())
      end(*ended);
  }
  tell();
}

void a2a_task::take(const event_batch& batch) {
  const bool calls = std::any_of(batch.begin(), batch.end(),
                                 [](const event& e) { return e.kind() == event_kind::tool_call; });
  for (const auto& e : batch)
    take(e, calls);
}

// Children are told of in metadata only; what the root says before it calls tools is progress.
void a2a_task::take(const event& e, bool calls_follow) {
  const bool is_root = e.origin->number == 0;
  if (const auto* asked = e.as<question_body>()) {
    questions_.push_back(*asked);
    auto text = sanitize_text(asked->message);
    if (asked->schema.value("type", "") == "boolean")
      text += " (yes or no)";
    return set_state(
        task_state::input_required, std::move(text),
        {{a2a::activity_extension,
          {{"question", asked->question.str()}, {"agent", e.author()}, {"schema", asked->schema}}}});
  }
  if (const auto* answered = e.as<answer_body>()) {
    std::erase_if(questions_, [&](const question_body& q) { return q.question == answered->question; });
    if (questions_.empty() && status_.state == task_state::input_required)
      set_state(task_state::working, {}, {});
    return;
  }
  if (a2a::is_interrupted(status_.state))
    return;
  if (const auto* said = e.as<model_text_body>();
      said != nullptr && is_root && calls_follow && !said->text.empty())
    return set_state(task_state::working, sanitize_text(said->text), {});
  if (const auto* began = e.as<agent_started_body>(); began != nullptr && !is_root)
    return set_state(task_state::working, {},
                     {{a2a::activity_extension,
                       {{"agent", began->name}, {"number", e.origin->number}, {"event", "started"}}}});
  if (const auto* ended = e.as<agent_ended_body>(); ended != nullptr && !is_root)
    set_state(task_state::working, {},
              {{a2a::activity_extension,
                {{"agent", e.author()},
                 {"number", e.origin->number},
                 {"event", to_string(ended->outcome.status())}}}});
}

void a2a_task::end(const outcome& ended) {
  questions_.clear();
  a2a::artifact result{"result", "result", {}, {}, {}};
  if (!ended.text().empty())
    result.parts = text_parts(sanitize_text(ended.text()));
  if (ended.value())
    result.parts.push_back({a2a::part::form::data, {}, *ended.value(), {}, {}});
  if (!result.parts.empty() || ended.completed()) {
    if (result.parts.empty())
      result.parts = text_parts({});
    artifacts_.push_back(result);
    push(a2a::artifact_update{id_, session.str(), std::move(result), false, true});
  }
  set_state(state_of_outcome(ended), ended.completed() ? std::string{} : sanitize_text(reason_of(ended)), {});
}

void a2a_task::set_state(task_state state, std::string text, json metadata) {
  if (status_.message) {
    history_.push_back(std::move(*status_.message));
    if (history_.size() > max_history)
      history_.pop_front();
  }
  status_ = {state, std::nullopt, a2a_timestamp(wall_now())};
  if (!text.empty())
    status_.message = a2a::message{id_ + "-m" + std::to_string(++messages_),
                                   session.str(),
                                   id_,
                                   true,
                                   text_parts(std::move(text)),
                                   {},
                                   {}};
  push(a2a::status_update{id_, session.str(), status_, std::move(metadata)});
}

void a2a_task::push(a2a::stream_item item) {
  turn_ = ++*clock_;
  updates_.push_back(std::move(item));
  if (updates_.size() <= max_updates)
    return;
  updates_.pop_front();
  ++dropped_;
}

void a2a_task::tell() {
  decltype(listeners_) now;
  {
    std::lock_guard guard{mutex_};
    now = listeners_;
  }
  std::erase_if(now, [](const auto& callback) { return (*callback)(); });
  if (now.empty())
    return;
  std::lock_guard guard{mutex_};
  std::erase_if(listeners_,
                [&now](const auto& l) { return std::find(now.begin(), now.end(), l) != now.end(); });
}

// -- what is asked of it ------------------------------------------------------------------------------------------------

a2a::task a2a_task::as_it_is(std::optional<std::size_t> history, bool artifacts) const {
  a2a::task t;
  t.id = id_;
  t.context = session.str();
  t.status = status_;
  if (artifacts)
    t.artifacts = artifacts_;
  const auto count = std::min(history.value_or(history_.size()), history_.size());
  t.history.assign(history_.end() - static_cast<std::ptrdiff_t>(count), history_.end());
  return t;
}

a2a::task a2a_task::snapshot(std::optional<std::size_t> history, bool artifacts) const {
  std::lock_guard guard{mutex_};
  return as_it_is(history, artifacts);
}

a2a::task a2a_task::begin_following(std::size_t& from) const {
  std::lock_guard guard{mutex_};
  from = dropped_ + updates_.size();
  return as_it_is(std::nullopt, true);
}

task_state a2a_task::state() const {
  std::lock_guard guard{mutex_};
  return status_.state;
}

std::uint64_t a2a_task::turn() const {
  std::lock_guard guard{mutex_};
  return turn_;
}

std::string a2a_task::changed_at() const {
  std::lock_guard guard{mutex_};
  return status_.timestamp;
}

std::optional<question_body> a2a_task::question() const {
  std::lock_guard guard{mutex_};
  return questions_.empty() ? std::nullopt : std::optional{questions_.front()};
}

void a2a_task::answering(const call_id& question) {
  {
    std::lock_guard guard{mutex_};
    const auto count =
        std::erase_if(questions_, [&](const question_body& q) { return q.question == question; });
    if (count == 0 || !a2a::is_interrupted(status_.state))
      return;
    if (questions_.empty())
      set_state(task_state::working, {}, {});
    else
      set_state(task_state::input_required, sanitize_text(questions_.front().message), {});
  }
  tell();
}

std::vector<a2a::stream_item> a2a_task::updates(std::size_t& from) const {
  std::lock_guard guard{mutex_};
  const auto begin = from;
  from = dropped_ + updates_.size();
  if (begin < dropped_)
    return {as_it_is(std::nullopt, true)};
  return {updates_.begin() + static_cast<std::ptrdiff_t>(begin - dropped_), updates_.end()};
}

void a2a_task::on_change(std::function<bool()> callback) {
  std::lock_guard guard{mutex_};
  listeners_.push_back(std::make_shared<const std::function<bool()>>(std::move(callback)));
}

// -- all of them --------------------------------------------------------------------------------------------------------

std::shared_ptr<a2a_task> a2a_tasks::make(const std::string& agent, const session_id& session) const {
  return std::make_shared<a2a_task>(agent, session, clock_);
}

void a2a_tasks::add(const std::shared_ptr<a2a_task>& task, const std::string& message) {
  std::lock_guard guard{mutex_};
  tasks_.emplace(task->id(), entry{task, message});
  by_message_.insert_or_assign(message_key(task->agent, message), task->id());
  order_.push_back(task->id());
  forget();
}

// The oldest that has ended goes first; what works is bounded by the table of runs.
void a2a_tasks::forget() {
  for (std::size_t looked = 0; tasks_.size() > max_tasks_ && looked < order_.size(); ++looked) {
    auto id = std::move(order_.front());
    order_.pop_front();
    const auto found = tasks_.find(id);
    if (found == tasks_.end())
      continue;
    if (!a2a::is_terminal(found->second.task->state())) {
      order_.push_back(std::move(id));
      continue;
    }
    const auto key = message_key(found->second.task->agent, found->second.message);
    if (const auto known = by_message_.find(key); known != by_message_.end() && known->second == id)
      by_message_.erase(known);
    tasks_.erase(found);
  }
}

std::shared_ptr<a2a_task> a2a_tasks::find(const std::string& agent, const std::string& id) const {
  std::lock_guard guard{mutex_};
  const auto found = tasks_.find(id);
  return found != tasks_.end() && found->second.task->agent == agent ? found->second.task : nullptr;
}

std::shared_ptr<a2a_task> a2a_tasks::begun_by(const std::string& agent, const std::string& message) const {
  std::lock_guard guard{mutex_};
  const auto known = by_message_.find(message_key(agent, message));
  if (known == by_message_.end())
    return nullptr;
  const auto found = tasks_.find(known->second);
  return found == tasks_.end() ? nullptr : found->second.task;
}

a2a_tasks::page a2a_tasks::list(const std::string& agent, const a2a_list_query& query) const {
  std::vector<std::pair<std::uint64_t, std::shared_ptr<a2a_task>>> fitting;
  {
    std::lock_guard guard{mutex_};
    for (const auto& [id, e] : tasks_) {
      const auto& t = *e.task;
      const bool fits = t.agent == agent && (query.context.empty() || t.session.str() == query.context) &&
                        (!query.state || t.state() == *query.state) &&
                        (query.after.empty() || t.changed_at() > query.after);
      if (fits)
        fitting.emplace_back(t.turn(), e.task);
    }
  }
  std::sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  page p;
  p.total = fitting.size();
  for (const auto& [turn, task] : fitting) {
    if (query.before && turn >= *query.before)
      continue;
    if (p.tasks.size() == query.page_size) {
      p.next = std::to_string(p.tasks.back()->turn());
      break;
    }
    p.tasks.push_back(task);
  }
  return p;
}

} // namespace troupe::net
