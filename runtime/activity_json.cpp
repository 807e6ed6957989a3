// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/json_object.hpp>
#include <troupe/runtime/activity_json.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/surface.hpp>

#include <array>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t described_bytes = 60;

// Texts are masked here, once; ids and names of ours are not touched.
template <std::size_t N>
void write_shown(text_object& o, const char (&key)[N], std::string_view text) {
  o.text(key, text.empty() ? std::string{} : sanitize_text(text));
}

// Cut once it is masked.
template <std::size_t N>
void write_shown(text_object& o, const char (&key)[N], std::string_view text, std::size_t most) {
  const auto masked = sanitize_text(text);
  o.text(key, utf8_prefix(masked, most));
}

template <std::size_t N>
void write_time(text_object& o, const char (&key)[N], timestamp t) {
  o.number(key, t.time_since_epoch().count());
}

void write_usage(text_object& o, const usage& u) {
  o.number("input", u.input);
  o.number("cached", u.cached);
  o.number("output", u.output);
  o.number("reasoning", u.reasoning);
  o.number("cost_nano_usd", u.cost_nano_usd);
}

template <std::size_t N>
void write_usage(text_object& o, const char (&key)[N], const usage& u) {
  o.object(key, [&u](text_object& inner) { write_usage(inner, u); });
}

void write_states(text_object& o, const std::array<std::uint64_t, activity_states>& counts) {
  o.number("thinking", counts[0]);
  o.number("working", counts[1]);
  o.number("waiting", counts[2]);
  o.number("completed", counts[3]);
  o.number("failed", counts[4]);
  o.number("cancelled", counts[5]);
}

void write_totals(text_object& o, const activity_counts& totals, const agent_counts& sum) {
  o.number("events", totals.total_events());
  o.number("turns", sum.turns);
  o.number("tool_calls", sum.tool_calls);
  o.number("started", totals.started);
  o.number("completed", totals.completed);
  o.number("failed", totals.failed);
  o.number("cancelled", totals.cancelled);
  write_usage(o, "usage", totals.usage);
}

void write_question(text_object& o, const open_question_row& q) {
  o.text("question", q.question.str());
  o.number("agent", q.agent);
  o.text("name", q.name);
  write_shown(o, "message", q.body.message);
  o.value("schema", shown_schema(q.body.schema));
  o.text("reason", q.body.reason);
  write_time(o, "asked_at", q.asked_at);
}

void write_item(text_object& o, const activity_item& item) {
  o.text("id", item.id);
  o.text("type", to_string(item.type));
  write_shown(o, "content", item.content, shown_lengths::content);
  o.text("display_name", item.display_name.empty() && item.type == activity_type::tool_call
                             ? item.content
                             : item.display_name);
  o.text("description",
         item.description.empty() ? describe_call(item.args) : sanitize_text(item.description));
  const auto parsed = item.args.empty() ? result<nlohmann::json>{errc::bad_json, {}} : parse_json(item.args);
  const auto args = parsed ? dump_json(sanitize_json(*parsed)) : sanitize_text(item.args);
  o.text("args", utf8_prefix(args, shown_lengths::args));
  o.text("status", to_string(item.status));
  write_time(o, "at", item.at);
  write_time(o, "ended_at", item.ended_at);
}

void write_agent(text_object& o, const agent_row& row) {
  const auto& origin = *row.origin;
  o.number("number", origin.number);
  o.text("name", origin.author);
  o.text("branch", origin.branch);
  o.text("kind", row.kind);
  o.text("model", row.model);
  o.number("parent", row.parent);
  o.text("call", origin.parent_call.str());
  o.flag("background", row.background);
  o.text("state", to_string(row.state));
  write_shown(o, "current", row.current, shown_lengths::current);
  write_shown(o, "waiting_for", row.waiting_for);
  write_time(o, "started_at", row.started_at);
  write_time(o, "changed_at", row.changed_at);
  o.number("turns", row.self.turns);
  o.number("tool_calls", row.self.tool_calls);
  o.number("failed_calls", row.self.failed_calls);
  write_usage(o, "usage", row.self.usage);
  o.object("subtree", [&row](text_object& inner) {
    inner.number("agents", row.subtree_agents);
    inner.number("turns", row.subtree.turns);
    inner.number("tool_calls", row.subtree.tool_calls);
    write_usage(inner, "usage", row.subtree.usage);
  });
  o.number("collapsed", row.collapsed_agents);
  if (!row.items.empty())
    o.objects("items", row.items,
              [](text_object& inner, const activity_item& item) { write_item(inner, item); });
}

void write_session(text_object& o, const session_row& row) {
  o.text("session", row.session.str());
  o.text("root", row.root);
  o.text("run", row.run.str());
  o.text("group", to_string(row.group));
  o.text("state", to_string(row.state));
  write_shown(o, "prompt", row.prompt, shown_lengths::prompt);
  write_shown(o, "current", row.current, shown_lengths::current);
  o.text("model", row.model);
  write_time(o, "started_at", row.started_at);
  write_time(o, "changed_at", row.changed_at);
  o.number("last_seq", row.last_seq);
  o.number("queued_runs", row.queued_runs);
  o.number("turns", row.sum.turns);
  o.number("tool_calls", row.sum.tool_calls);
  write_usage(o, "usage", row.sum.usage);
  o.object("agents", [&row](text_object& inner) { write_states(inner, row.agents); });
  o.objects("questions", row.questions,
            [](text_object& inner, const open_question_row& q) { write_question(inner, q); });
}

void write_spread(text_object& o, const latency_histogram& times) {
  o.number("count", times.count());
  o.number("sum", static_cast<double>(times.sum_us) / 1e6);
  o.number("p50", times.quantile(0.5) / 1e6);
  o.number("p90", times.quantile(0.9) / 1e6);
  o.number("p99", times.quantile(0.99) / 1e6);
}

template <std::size_t N>
void write_spread(text_object& o, const char (&key)[N], const latency_histogram& times) {
  o.object(key, [&times](text_object& inner) { write_spread(inner, times); });
}

void write_model(text_object& o, const std::string& id, const model_listing& model) {
  const auto& s = model.status;
  o.text("id", id);
  o.text("description", model.description);
  o.text("breaker", to_string(s.breaker));
  o.number("in_use", s.in_use);
  o.number("waiting", s.waiting);
  o.number("calls", s.counts.calls);
  o.number("completed", s.counts.completed);
  o.number("failed", s.counts.failed);
  o.number("rate_limited", s.counts.rate_limited);
  o.number("retries", s.counts.retries);
  write_spread(o, "latency", s.latency);
  write_spread(o, "first_token", s.first_token);
  write_spread(o, "queue_wait", s.queue_wait);
  write_usage(o, "usage", s.usage);
}

// An object with the spread of one of the times of each kind of actor.
template <std::size_t N>
void write_times(text_object& o, const char (&key)[N], const std::map<std::string, actor_timing>& actors,
                 latency_histogram actor_timing::*times) {
  o.raw(key, [&](std::string& out) {
    out += '{';
    bool first = true;
    for (const auto& [name, timing] : actors) {
      if (!std::exchange(first, false))
        out += ',';
      append_json_string(out, name);
      out += ':';
      append_shown(out, timing.*times);
    }
    out += '}';
  });
}

} // namespace

std::string describe_call(std::string_view args) {
  static constexpr std::array keys = {"description", "command", "file_path", "path", "dir_path",
                                      "query",       "url",     "target",    "goal", "request"};
  const auto parsed = args.empty() ? result<nlohmann::json>{errc::bad_json, {}} : parse_json(args);
  if (!parsed || !parsed->is_object())
    return {};
  for (const char* key : keys)
    if (auto found = parsed->find(key); found != parsed->end() && found->is_string())
      return std::string{utf8_prefix(sanitize_text(found->get_ref<const std::string&>()), described_bytes)};
  return {};
}

void append_shown(std::string& out, const usage& used) {
  text_object o{out};
  write_usage(o, used);
}

void append_shown(std::string& out, const session_row& row) {
  text_object o{out};
  write_session(o, row);
}

void append_shown(std::string& out, const agent_row& row) {
  text_object o{out};
  write_agent(o, row);
}

void append_shown(std::string& out, const activity_item& item) {
  text_object o{out};
  write_item(o, item);
}

void append_shown(std::string& out, const latency_histogram& times) {
  text_object o{out};
  write_spread(o, times);
}

std::string shown_changes(const activity_changes& changes, const activity_query& query,
                          std::string_view cursor, timestamp at) {
  std::string out;
  {
    text_object o{out};
    o.text("type", changes.complete ? "snapshot" : "delta");
    o.text("cursor", cursor);
    if (query.session)
      o.text("session", query.session->str());
    write_time(o, "at", at);
    o.object("totals", [&changes](text_object& inner) { write_totals(inner, changes.totals, changes.sum); });
    o.objects("sessions", changes.sessions,
              [](text_object& inner, const session_row& row) { write_session(inner, row); });
    if (query.session)
      o.objects("agents", changes.agents,
                [](text_object& inner, const agent_row& row) { write_agent(inner, row); });
    if (!changes.complete) {
      o.list("removed_sessions", changes.removed_sessions,
             [](std::string& to, const session_id& id) { append_json_string(to, id.str()); });
      o.list("removed_agents", changes.removed_agents,
             [](std::string& to, agent_number number) { to += std::to_string(number); });
    }
  }
  return out;
}

std::string shown_model(const std::string& id, const model_listing& model) {
  std::string out;
  {
    text_object o{out};
    write_model(o, id, model);
  }
  return out;
}

std::string shown_vitals(const activity_vitals& vitals, const std::map<std::string, model_listing>& models,
                         timestamp at) {
  std::string out;
  {
    text_object o{out};
    o.text("type", "vitals");
    write_time(o, "at", at);
    o.object("totals", [&vitals](text_object& inner) { write_totals(inner, vitals.totals, vitals.sum); });
    o.number("sessions", vitals.sessions);
    o.object("agents", [&vitals](text_object& inner) { write_states(inner, vitals.agents); });
    o.objects("models", models,
              [](text_object& inner, const auto& model) { write_model(inner, model.first, model.second); });
    o.objects("tools", vitals.tools, [](text_object& inner, const auto& tool) {
      inner.text("name", tool.first.empty() ? std::string_view{"(others)"} : tool.first);
      inner.number("calls", tool.second.calls);
      inner.number("errors", tool.second.errors);
      write_spread(inner, "time", tool.second.time);
    });
    write_spread(o, "agent_time", vitals.agent_time);
    write_times(o, "mailbox_wait", vitals.actors, &actor_timing::mailbox_wait);
    write_times(o, "handler_time", vitals.actors, &actor_timing::handler_time);
    o.number("events_dropped", vitals.events_dropped);
  }
  return out;
}

} // namespace troupe
