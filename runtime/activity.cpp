// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t current_width = 120;

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
    return short_line(e.as<tool_call_body>()->name + " " + e.as<tool_call_body>()->arguments);
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

} // namespace

std::string_view to_string(activity_state s) noexcept {
  static constexpr std::array<std::string_view, 6> names = {"thinking",  "working", "waiting",
                                                            "completed", "failed",  "cancelled"};
  return names[static_cast<std::size_t>(s)];
}

std::uint64_t activity_counts::total_events() const noexcept {
  return std::accumulate(events.begin(), events.end(), std::uint64_t{0});
}

activity_counts& activity_counts::operator+=(const activity_counts& other) noexcept {
  for (std::size_t i = 0; i < events.size(); ++i)
    events[i] += other.events[i];
  turns += other.turns;
  started += other.started;
  completed += other.completed;
  failed += other.failed;
  cancelled += other.cancelled;
  usage += other.usage;
  return *this;
}

void activity_counts::add(const event& e) noexcept {
  ++events[static_cast<std::size_t>(e.kind())];
  usage += e.usage;
  if (e.kind() == event_kind::agent_started) {
    ++started;
  } else if (const auto* ended = e.as<agent_ended_body>()) {
    turns += ended->turns;
    ++(ended->outcome.completed() ? completed : ended->outcome.failed() ? failed : cancelled);
  }
}

agent_delta& activity_collector::entry(const event_origin_ptr& origin) {
  auto [found, fresh] = index_.try_emplace(origin->number, pending_.size());
  if (fresh) {
    pending_.emplace_back();
    pending_.back().origin = origin;
  }
  return pending_[found->second];
}

void activity_collector::add(const event_batch& batch) {
  for (const auto& e : batch) {
    auto& d = entry(e.origin);
    d.origin = e.origin;
    d.changed_at = e.time;
    d.counts.add(e);
    if (const auto* started = e.as<agent_started_body>()) {
      d.started = *started;
      d.started_at = e.time;
    }
    if (auto state = state_after(e))
      d.state = *state;
  }
  // Only the newest line of the batch is ever shown.
  for (auto e = batch.rbegin(); e != batch.rend(); ++e)
    if (auto line = current_after(*e)) {
      entry(e->origin).current = std::move(*line);
      break;
    }
}

void activity_collector::restore(const event_origin_ptr& origin, agent_started_body started,
                                 activity_state state, timestamp now) {
  auto& d = entry(origin);
  d.started = std::move(started);
  d.started_at = d.changed_at = now;
  d.state = state;
  d.current = "resumed";
}

std::shared_ptr<const activity_delta> activity_collector::take() {
  auto delta = std::make_shared<activity_delta>();
  delta->session = session_;
  delta->agents = std::exchange(pending_, {});
  index_.clear();
  return delta;
}

void activity_tree::merge(const activity_delta& delta) {
  auto& session = sessions_[delta.session];
  for (const auto& d : delta.agents) {
    session.totals += d.counts;
    totals_ += d.counts;
    auto& agent = session.agents[d.origin->number];
    agent.origin = d.origin;
    agent.self += d.counts;
    if (d.state)
      agent.state = *d.state;
    agent.changed_at = d.changed_at;
    if (!d.current.empty())
      agent.current = d.current;
    if (d.started) {
      agent.kind = d.started->kind;
      agent.model = d.started->model;
      agent.parent = d.started->parent;
      agent.started_at = d.started_at;
    }
    if (d.state && is_ended(*d.state))
      end(session, delta.session, d.origin->number);
  }
  collapse();
  forget_sessions();
}

void activity_tree::end(session_entry& session, const session_id& id, agent_number number) {
  if (number != 0) {
    ended_.emplace_back(id, number);
  } else if (session.agents.contains(0)) {
    ended_sessions_.emplace_back(id, ++session.ends);
  }
}

void activity_tree::collapse() {
  while (ended_.size() > limits_.keep_ended) {
    auto [id, number] = ended_.front();
    ended_.pop_front();
    auto session = sessions_.find(id);
    if (session == sessions_.end())
      continue;
    auto node = session->second.agents.extract(number);
    if (node.empty())
      continue;
    auto parent = session->second.agents.find(node.mapped().parent);
    if (parent == session->second.agents.end())
      continue;
    parent->second.collapsed += node.mapped().self;
    parent->second.collapsed += node.mapped().collapsed;
    parent->second.collapsed_agents += 1 + node.mapped().collapsed_agents;
  }
}

void activity_tree::forget_sessions() {
  while (ended_sessions_.size() > limits_.keep_sessions) {
    auto [id, ends] = ended_sessions_.front();
    auto session = sessions_.find(id);
    ended_sessions_.pop_front();
    if (session == sessions_.end() || session->second.ends != ends)
      continue; // it has had another run since
    auto live = [](const auto& entry) { return !is_ended(entry.second.state); };
    if (std::none_of(session->second.agents.begin(), session->second.agents.end(), live))
      sessions_.erase(session);
  }
}

activity_snapshot activity_tree::snapshot(const std::optional<session_id>& only) const {
  activity_snapshot all;
  all.totals = totals_;
  for (const auto& [id, entry] : sessions_) {
    if (only && id != *only)
      continue;
    session_activity s{id, entry.totals, {}};
    s.agents.reserve(entry.agents.size());
    for (const auto& [number, agent] : entry.agents)
      s.agents.push_back(agent);
    all.sessions.push_back(std::move(s));
  }
  return all;
}

} // namespace troupe
