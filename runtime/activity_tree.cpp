// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/activity_tree.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t sparse_buckets = 16; // for each element of an index, from where on it is made smaller

std::size_t index(activity_state s) {
  return static_cast<std::size_t>(s);
}

// The first element whose version is greater than `since`, in a list that is ordered by version.
template <class List>
auto first_after(const List& rows, std::uint64_t since) {
  auto first = rows.end();
  while (first != rows.begin() && std::prev(first)->version > since)
    --first;
  return first;
}

std::uint64_t live_agents(const session_row& row) {
  return row.agents[index(activity_state::thinking)] + row.agents[index(activity_state::working)] +
         row.agents[index(activity_state::waiting)];
}

std::uint64_t microseconds_between(timestamp from, timestamp to) {
  return to > from ? static_cast<std::uint64_t>((to - from).count()) : 0;
}

// What an agent that is not held waits for.
std::string waits_for(const agent_facts& row, const recent_items& items) {
  if (is_ended(row.state))
    return {};
  if (row.state == activity_state::thinking)
    return "model '" + row.model + "'";
  const auto running = items.running();
  if (running == 0)
    return {};
  const auto& first = items.oldest_running()->content;
  return running == 1 ? first : first + " and " + std::to_string(running - 1) + " more calls";
}

} // namespace

activity_tree::session_entry& activity_tree::find_or_add(const session_id& id) {
  if (auto found = by_id_.find(id); found != by_id_.end())
    return *found->second;
  busy_.emplace_back();
  busy_.back().row.session = id;
  by_id_.emplace(id, std::prev(busy_.end()));
  return busy_.back();
}

void activity_tree::touch(session_entry& session, agent_list::iterator agent) {
  agent->version = ++version_;
  session.agents.splice(session.agents.end(), session.agents, agent);
}

void activity_tree::touch(session_entry& session) {
  session.version = ++version_;
  const auto here = by_id_.at(session.row.session);
  auto& from = session.rests ? resting_ : busy_;
  session.rests = live_agents(session.row) == 0 && session.row.queued_runs == 0;
  auto& to = session.rests ? resting_ : busy_;
  to.splice(to.end(), from, here);
}

void activity_tree::set_state(session_entry& session, agent_facts& row, activity_state state) {
  --session.row.agents[index(row.state)];
  --states_[index(row.state)];
  row.state = state;
  ++session.row.agents[index(state)];
  ++states_[index(state)];
}

void activity_tree::merge(activity_delta&& delta) {
  auto& session = find_or_add(delta.session);
  auto& row = session.row;
  for (auto& agent : delta.agents)
    merge_agent(session, agent);
  row.totals += delta.totals;
  totals_ += delta.totals;
  row.last_seq = std::max(row.last_seq, delta.last_seq);
  if (delta.prompt)
    row.prompt = std::move(*delta.prompt);
  if (delta.queued_runs)
    row.queued_runs = *delta.queued_runs;
  for (const auto& [name, tool] : delta.tools) {
    const bool known = tools_.size() < limits_.max_tools || tools_.contains(name);
    tools_[known ? name : std::string{}] += tool;
  }
  if (delta.closed)
    close(session, *delta.closed);
  row.group = group_of(session);
  if (auto root = session.by_number.find(0); root != session.by_number.end())
    touch(session, root->second); // it shows the sums of all
  touch(session);
  if (session.agents.empty() && row.queued_runs == 0)
    forget(by_id_.at(delta.session)); // its runs were refused before it had a root
  collapse();
  forget_sessions();
}

void activity_tree::merge_agent(session_entry& session, agent_delta& d) {
  const auto number = d.origin->number;
  auto found = session.by_number.find(number);
  const bool fresh = found == session.by_number.end();
  if (fresh) {
    session.agents.emplace_back();
    found = session.by_number.emplace(number, std::prev(session.agents.end())).first;
  }
  auto& entry = *found->second;
  auto& row = entry.row;
  if (fresh) {
    ++session.row.agents[index(row.state)];
    ++states_[index(row.state)];
  }
  row.origin = std::move(d.origin);
  if (d.restored) {
    entry.items = {};
    std::erase_if(session.row.questions, [number](const open_question_row& q) { return q.agent == number; });
  }
  entry.items.merge(std::move(d.items));
  merge_questions(session, number, d);
  row.self += d.counts;
  session.row.sum += d.counts;
  sum_ += d.counts;
  // A hint to a session that rests, or to one that is long forgotten, begins no work.
  if (d.state || (fresh && !d.started))
    set_state(session, row, d.state.value_or(activity_state::completed));
  note_waits(session, entry, d);
  if (d.changed_at != timestamp{})
    row.changed_at = d.changed_at;
  if (!d.current.empty())
    row.current = std::move(d.current);
  if (d.started) {
    row.kind = std::move(d.started->kind);
    row.model = std::move(d.started->model);
    row.parent = d.started->parent;
    row.background = d.started->background;
    row.started_at = d.started_at;
  }
  touch(session, found->second);
  session.row.changed_at = std::max(session.row.changed_at, row.changed_at);
  if (number == 0)
    note_root(session, row);
  if (d.state && is_ended(*d.state) && number != 0)
    note_end(session, row);
}

// The last event of an agent tells its state but for what else goes on: other calls, and questions.
void activity_tree::note_waits(session_entry& session, agent_entry& agent, agent_delta& d) {
  auto& row = agent.row;
  if (d.waiting_for)
    row.waiting_for = std::move(*d.waiting_for);
  if (!is_ended(row.state)) {
    const auto number = row.origin->number;
    const auto& open = session.row.questions;
    const bool asks = std::any_of(open.begin(), open.end(),
                                  [number](const open_question_row& q) { return q.agent == number; });
    if (asks) {
      set_state(session, row, activity_state::waiting);
      row.waiting_for = "an answer";
    } else if (agent.items.running() > 0) {
      set_state(session, row, activity_state::working);
    }
  }
  row.held = !row.waiting_for.empty() && !is_ended(row.state);
}

void activity_tree::merge_questions(session_entry& session, agent_number number, agent_delta& d) {
  auto& open = session.row.questions;
  for (auto& asked : d.asked)
    open.push_back(std::move(asked));
  if (open.empty())
    return;
  const bool ended = d.state && is_ended(*d.state);
  std::erase_if(open, [&](const open_question_row& q) {
    return q.agent == number &&
           (ended || std::find(d.closed.begin(), d.closed.end(), q.question) != d.closed.end());
  });
}

void activity_tree::note_root(session_entry& session, const agent_facts& root) {
  auto& row = session.row;
  row.root = root.origin->author;
  row.run = root.origin->run;
  row.model = root.model;
  row.current = root.current;
  row.state = root.state;
  row.started_at = root.started_at;
}

void activity_tree::close(session_entry& session, const std::string& why) {
  std::vector<agent_list::iterator> live;
  for (auto agent = session.agents.begin(); agent != session.agents.end(); ++agent)
    if (!is_ended(agent->row.state))
      live.push_back(agent);
  session.row.questions.clear();
  session.row.queued_runs = 0;
  for (const auto agent : live) {
    auto& row = agent->row;
    set_state(session, row, activity_state::failed);
    row.current = why;
    row.waiting_for.clear();
    row.held = false;
    touch(session, agent);
    if (row.origin->number == 0)
      note_root(session, row);
    else
      note_end(session, row);
  }
}

void activity_tree::note_end(const session_entry& session, const agent_facts& child) {
  agent_time_.add(microseconds_between(child.started_at, child.changed_at));
  ended_.emplace_back(session.row.session, child.origin->number);
}

session_group activity_tree::group_of(const session_entry& session) {
  const auto& row = session.row;
  if (!row.questions.empty())
    return session_group::needs_input;
  if (live_agents(row) > 0)
    return session_group::running;
  if (row.queued_runs > 0)
    return session_group::queued;
  return row.state == activity_state::failed ? session_group::failed : session_group::done;
}

void activity_tree::note_removal(const session_id& session, std::optional<agent_number> agent) {
  removed_.push_back({++version_, session, agent});
  while (removed_.size() > limits_.keep_removed) {
    forgotten_ = removed_.front().version;
    removed_.pop_front();
  }
}

void activity_tree::collapse() {
  while (ended_.size() > limits_.keep_ended) {
    auto [id, number] = std::move(ended_.front());
    ended_.pop_front();
    auto session = by_id_.find(id);
    if (session == by_id_.end())
      continue;
    auto& entry = *session->second;
    auto child = entry.by_number.find(number);
    if (child == entry.by_number.end() || !is_ended(child->second->row.state))
      continue; // it has been taken up again
    const auto row = std::move(child->second->row);
    entry.agents.erase(child->second);
    entry.by_number.erase(child);
    if (entry.by_number.bucket_count() > sparse_buckets * (entry.by_number.size() + sparse_buckets))
      entry.by_number.rehash(0); // it has had thousands, and may stay small for long
    --states_[index(row.state)];
    note_removal(id, number);
    auto parent = entry.by_number.find(row.parent);
    if (parent == entry.by_number.end())
      parent = entry.by_number.find(0);
    if (parent == entry.by_number.end())
      continue;
    auto& above = parent->second->row;
    above.collapsed += row.self;
    above.collapsed += row.collapsed;
    above.collapsed_agents += 1 + row.collapsed_agents;
    touch(entry, parent->second);
  }
}

void activity_tree::forget_sessions() {
  while (resting_.size() > limits_.keep_sessions)
    forget(resting_.begin());
}

void activity_tree::forget(session_list::iterator session) {
  for (const auto& a : session->agents)
    --states_[index(a.row.state)];
  note_removal(session->row.session, std::nullopt);
  by_id_.erase(session->row.session);
  (session->rests ? resting_ : busy_).erase(session);
}

agent_row activity_tree::shown(const session_entry& session, const agent_entry& agent, bool with_items) {
  agent_row row{agent.row, {}, 0, {}};
  if (row.origin->number == 0) {
    row.subtree = session.row.sum;
    for (auto count : session.row.agents)
      row.subtree_agents += count;
    row.subtree_agents -= 1;
  } else {
    row.subtree = row.self;
    row.subtree += row.collapsed;
    row.subtree_agents = row.collapsed_agents;
  }
  if (!row.held)
    row.waiting_for = waits_for(row, agent.items);
  if (with_items)
    row.items = agent.items.items();
  return row;
}

activity_snapshot activity_tree::snapshot(const std::optional<session_id>& only) const {
  activity_snapshot all;
  all.totals = totals_;
  for (const auto& [id, session] : by_id_) {
    if (only && id != *only)
      continue;
    session_activity s{session->row, {}};
    s.agents.reserve(session->agents.size());
    for (const auto& agent : session->agents)
      s.agents.push_back(shown(*session, agent, true));
    std::sort(s.agents.begin(), s.agents.end(),
              [](const agent_row& a, const agent_row& b) { return a.origin->number < b.origin->number; });
    all.sessions.push_back(std::move(s));
  }
  std::sort(
      all.sessions.begin(), all.sessions.end(),
      [](const session_activity& a, const session_activity& b) { return a.row.session < b.row.session; });
  return all;
}

activity_changes activity_tree::changes(const activity_query& query) const {
  activity_changes told;
  told.version = {version_, version_};
  told.totals = totals_;
  told.sum = sum_;
  auto since = query.since;
  if (since.rows == 0 || since.removals < forgotten_ || since.rows > version_ || since.removals > version_) {
    told.complete = true;
    since = {};
  }
  const auto max_rows = std::max<std::size_t>(query.max_rows, 1);
  const auto followed = query.session ? by_id_.find(*query.session) : by_id_.end();
  if (followed != by_id_.end()) {
    const auto& agents = followed->second->agents;
    for (auto next = first_after(agents, since.rows); next != agents.end(); ++next) {
      if (told.agents.size() == max_rows) {
        told.version.rows = std::prev(next)->version;
        told.more = true;
        break;
      }
      told.agents.push_back(
          shown(*followed->second, *next, query.agent && next->row.origin->number == *query.agent));
    }
  }
  for (const auto* list : {&busy_, &resting_})
    for (auto next = first_after(*list, since.rows);
         next != list->end() && next->version <= told.version.rows; ++next)
      told.sessions.push_back(next->row);
  if (told.complete)
    return told;
  auto gone = std::lower_bound(removed_.begin(), removed_.end(), since.removals + 1,
                               [](const removal& r, std::uint64_t version) { return r.version < version; });
  for (; gone != removed_.end(); ++gone) {
    if (!gone->agent)
      told.removed_sessions.push_back(gone->session);
    else if (query.session && gone->session == *query.session)
      told.removed_agents.push_back(*gone->agent);
  }
  return told;
}

activity_vitals activity_tree::vitals() const {
  activity_vitals v;
  v.totals = totals_;
  v.sum = sum_;
  v.agents = states_;
  v.sessions = by_id_.size();
  v.tools = tools_;
  v.agent_time = agent_time_;
  return v;
}

} // namespace troupe
