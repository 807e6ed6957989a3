// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/a2a_tasks.hpp>
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
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

constexpr std::size_t item_bytes = 256; // of an item besides its text, about

std::size_t bytes_of(const std::vector<a2a::part>& parts) {
  std::size_t all = 0;
  for (const auto& p : parts)
    all += item_bytes + p.text.size() + (p.data.is_null() ? 0 : dump_json(p.data).size());
  return all;
}

std::size_t bytes_of(const a2a::message& m) {
  return item_bytes + bytes_of(m.parts) + (m.metadata.is_null() ? 0 : dump_json(m.metadata).size());
}

std::size_t bytes_of(const a2a::stream_item& item) {
  if (const auto* artifact = std::get_if<a2a::artifact_update>(&item))
    return item_bytes + bytes_of(artifact->artifact.parts);
  const auto* update = std::get_if<a2a::status_update>(&item);
  if (update == nullptr)
    return item_bytes;
  return item_bytes + (update->status.message ? bytes_of(*update->status.message) : 0) +
         (update->metadata.is_null() ? 0 : dump_json(update->metadata).size());
}

bool is_yes_or_no(const json& schema) {
  const auto* type = a2a::member(schema, "type");
  return type != nullptr && *type == "boolean";
}

} // namespace

std::string a2a_message_key(const std::string& agent, const a2a::message& said) {
  const auto parts = a2a::write(said, a2a::dialect::v1).value("parts", json::array());
  return agent + "\n" + said.context + "\n" + said.id + "\n" + content_hash_hex(dump_json(parts));
}

task_state state_of_outcome(const outcome& ended, bool begun) noexcept {
  if (ended.completed())
    return task_state::completed;
  if (ended.cancelled())
    return task_state::canceled;
  if (ended.code() == errc::needs_input)
    return task_state::input_required;
  return !begun && is_refusal(ended.code()) ? task_state::rejected : task_state::failed;
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

a2a_task::a2a_task(std::string agent_name, session_id of, std::shared_ptr<a2a_totals> totals)
    : agent(std::move(agent_name)), session(std::move(of)), totals_(std::move(totals)) {
  status_.state = task_state::submitted;
  changed_at_ = wall_now();
  status_.timestamp = a2a_timestamp(changed_at_);
  turn_ = ++totals_->clock;
}

a2a_task::~a2a_task() {
  totals_->bytes -= bytes_;
}

void a2a_task::count(std::size_t more, std::size_t less) {
  bytes_ += more;
  bytes_ -= less;
  totals_->bytes += more;
  totals_->bytes -= less;
}

void a2a_task::add_message(a2a::message said) {
  std::lock_guard guard{mutex_};
  said.task = id_;
  said.context = session.str();
  keep_message(std::move(said));
}

void a2a_task::keep_message(a2a::message said) {
  const auto bytes = bytes_of(said);
  history_.emplace_back(bytes, std::move(said));
  history_bytes_ += bytes;
  count(bytes, 0);
  while (history_.size() > max_history || (history_bytes_ > max_history_bytes && !history_.empty())) {
    const auto less = history_.front().first;
    history_.pop_front();
    history_bytes_ -= less;
    count(0, less);
  }
}

// -- what the run does --------------------------------------------------------------------------------------------------

void a2a_task::follow(run_feed& feed) {
  {
    std::lock_guard guard{mutex_};
    if (over_)
      return;
    try {
      take_news(feed);
    } catch (const std::exception&) {
      // What cannot be told must not end the session that it is told of.
      over_ = true;
      status_ = {task_state::failed, std::nullopt, status_.timestamp};
      questions_.clear();
      turn_ = ++totals_->clock;
    }
  }
  tell();
}

void a2a_task::take_news(run_feed& feed) {
  if (status_.state == task_state::submitted && !feed.run().empty())
    set_state(task_state::working, {}, {});
  while (auto batch = feed.next(std::chrono::steady_clock::now()))
    take(**batch);
  if (const auto ended = feed.result())
    end(*ended);
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
    questions_.emplace_back(*asked, e.author());
    return questions_.size() == 1 ? ask_first() : void();
  }
  if (const auto* answered = e.as<answer_body>()) {
    return close(answered->question);
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

void a2a_task::close(const call_id& question) {
  const bool was_told = !questions_.empty() && questions_.front().first.question == question;
  std::erase_if(questions_, [&](const auto& q) { return q.first.question == question; });
  if (status_.state != task_state::input_required)
    return;
  if (questions_.empty())
    set_state(task_state::working, {}, {});
  else if (was_told)
    ask_first();
}

void a2a_task::ask_first() {
  const auto& [asked, agent_name] = questions_.front();
  auto text = sanitize_text(asked.message);
  if (is_yes_or_no(asked.schema))
    text += " (yes or no)";
  set_state(task_state::input_required, std::move(text),
            {{a2a::activity_extension,
              {{"question", asked.question.str()},
               {"agent", agent_name},
               {"schema", shown_schema(asked.schema)}}}});
}

void a2a_task::end(const outcome& ended) {
  const bool begun = status_.state != task_state::submitted;
  questions_.clear();
  a2a::artifact result{"result", "result", {}, {}, {}};
  if (!ended.text().empty())
    result.parts = text_parts(sanitize_text(ended.text()));
  if (ended.value())
    result.parts.push_back({a2a::part::form::data, {}, sanitize_json(*ended.value()), {}, {}});
  if (!result.parts.empty() || ended.completed()) {
    if (result.parts.empty())
      result.parts = text_parts({});
    artifacts_.push_back(result);
    count(bytes_of(result.parts), 0);
    push(a2a::artifact_update{id_, session.str(), std::move(result), false, true});
  }
  over_ = true;
  set_state(state_of_outcome(ended, begun),
            ended.completed() ? std::string{} : sanitize_text(reason_of(ended)), {});
}

void a2a_task::set_state(task_state state, std::string text, json metadata) {
  if (status_.message)
    keep_message(std::move(*status_.message));
  changed_at_ = wall_now();
  status_ = {state, std::nullopt, a2a_timestamp(changed_at_)};
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
  turn_ = ++totals_->clock;
  const auto bytes = bytes_of(item);
  updates_.emplace_back(bytes, std::move(item));
  update_bytes_ += bytes;
  count(bytes, 0);
  while (updates_.size() > max_updates || (update_bytes_ > max_update_bytes && updates_.size() > 1)) {
    const auto less = updates_.front().first;
    updates_.pop_front();
    update_bytes_ -= less;
    count(0, less);
    ++dropped_;
  }
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
  for (auto i = history_.size() - count; i < history_.size(); ++i)
    t.history.push_back(history_[i].second);
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

bool a2a_task::is_over() const {
  std::lock_guard guard{mutex_};
  return over_;
}

std::uint64_t a2a_task::turn() const {
  std::lock_guard guard{mutex_};
  return turn_;
}

timestamp a2a_task::changed_at() const {
  std::lock_guard guard{mutex_};
  return changed_at_;
}

std::optional<question_body> a2a_task::question() const {
  std::lock_guard guard{mutex_};
  return questions_.empty() ? std::nullopt : std::optional{questions_.front().first};
}

void a2a_task::answering(const call_id& question) {
  {
    std::lock_guard guard{mutex_};
    close(question);
  }
  tell();
}

std::vector<a2a::stream_item> a2a_task::updates(std::size_t& from) const {
  std::lock_guard guard{mutex_};
  const auto begin = from;
  from = dropped_ + updates_.size();
  if (begin < dropped_)
    return {as_it_is(std::nullopt, true)};
  std::vector<a2a::stream_item> news;
  for (auto i = begin - dropped_; i < updates_.size(); ++i)
    news.push_back(updates_[i].second);
  return news;
}

void a2a_task::on_change(std::function<bool()> callback) {
  tell(); // so that those who listen no more go
  std::lock_guard guard{mutex_};
  listeners_.push_back(std::make_shared<const std::function<bool()>>(std::move(callback)));
}

// -- all of them --------------------------------------------------------------------------------------------------------

std::shared_ptr<a2a_task> a2a_tasks::make(const std::string& agent, const session_id& session) const {
  return std::make_shared<a2a_task>(agent, session, totals_);
}

void a2a_tasks::add(const std::shared_ptr<a2a_task>& task, const std::string& key) {
  std::lock_guard guard{mutex_};
  tasks_.emplace(task->id(), entry{task, key});
  by_message_.insert_or_assign(key, task->id());
  order_.push_back(task->id());
  forget();
}

// The oldest that has ended goes first; what works is bounded by the table of runs.
void a2a_tasks::forget() {
  const auto is_full = [this] { return tasks_.size() > max_tasks_ || totals_->bytes > max_bytes_; };
  for (std::size_t looks = order_.size(); is_full() && looks > 0; --looks) {
    auto id = std::move(order_.front());
    order_.pop_front();
    const auto found = tasks_.find(id);
    if (found == tasks_.end())
      continue;
    if (!found->second.task->is_over()) {
      order_.push_back(std::move(id));
      continue;
    }
    if (const auto known = by_message_.find(found->second.key);
        known != by_message_.end() && known->second == id)
      by_message_.erase(known);
    tasks_.erase(found);
  }
}

std::shared_ptr<a2a_task> a2a_tasks::find(const std::string& agent, const std::string& id) const {
  std::lock_guard guard{mutex_};
  const auto found = tasks_.find(id);
  return found != tasks_.end() && found->second.task->agent == agent ? found->second.task : nullptr;
}

std::shared_ptr<a2a_task> a2a_tasks::begun_by(const std::string& key) const {
  std::lock_guard guard{mutex_};
  const auto known = by_message_.find(key);
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
                        (!query.after || t.changed_at() > *query.after);
      if (fits)
        fitting.emplace_back(t.turn(), e.task);
    }
  }
  std::sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  page p;
  p.total = fitting.size();
  std::uint64_t last = 0; // as it was sorted: it may have changed since
  for (const auto& [turn, task] : fitting) {
    if (query.before && turn >= *query.before)
      continue;
    if (p.tasks.size() == query.page_size) {
      p.next = std::to_string(last);
      break;
    }
    p.tasks.push_back(task);
    last = turn;
  }
  return p;
}

} // namespace troupe::net
