// Logs of sessions that a test writes, and the tree of spans as text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/telemetry/trace_builder.hpp>
#include <troupe/runtime/telemetry/trace_ids.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::test {

// One agent of a log, in one run.
inline event_origin_ptr agent_origin(const std::string& session, std::uint32_t run, agent_number number,
                                     std::string name, std::string parent_call = {}) {
  auto o = std::make_shared<event_origin>();
  o->session = session_id{session};
  o->run = make_run_id(o->session, run);
  o->agent = make_agent_id(o->session, number);
  o->number = number;
  o->branch = parent_call.empty() ? name : "root." + name + "@" + parent_call;
  o->author = std::move(name);
  o->parent_call = call_id{std::move(parent_call)};
  return o;
}

// Gives events their numbers; times are milliseconds since 1970.
class span_log {
 public:
  event& add(const event_origin_ptr& who, int at_ms, event_body body, usage used = {},
             event_timing timing = {}) {
    auto e = std::make_shared<event>();
    e->seq = ++seqs_[who->session.str()];
    e->index = ++indexes_[who->agent.str()];
    e->time = timestamp{std::chrono::milliseconds{at_ms}};
    e->origin = who;
    e->body = std::move(body);
    e->usage = used;
    e->timing = timing;
    events.push_back(e);
    return *e;
  }

  event& starts(const event_origin_ptr& who, int at, const std::string& kind = "root",
                bool background = false) {
    return add(who, at, agent_started_body{who->author, kind, "fast", 0, background});
  }
  event& ends(const event_origin_ptr& who, int at, outcome o = outcome::make_completed("done")) {
    return add(who, at, agent_ended_body{std::move(o), 1});
  }
  // An answer of the model that took so long.
  event& says(const event_origin_ptr& who, int at, std::uint32_t took_ms, std::string text) {
    return add(who, at, model_text_body{0, std::move(text), {}}, {10, 4, 5, 1}, {1000, 2000, took_ms * 1000});
  }
  event& calls(const event_origin_ptr& who, int at, const std::string& call, std::string tool,
               std::string arguments = "{}") {
    return add(who, at, tool_call_body{0, call_id{call}, std::move(tool), std::move(arguments), {}});
  }
  event& result(const event_origin_ptr& who, int at, const std::string& call, std::string tool,
                std::uint32_t took_ms = 0, std::optional<errc> failed = {}) {
    return add(who, at,
               tool_result_body{call_id{call}, std::move(tool), "result", failed.has_value(), failed}, {},
               {0, 0, took_ms * 1000});
  }

  std::vector<std::shared_ptr<event>> events;

 private:
  std::map<std::string, std::uint64_t> seqs_;
  std::map<std::string, std::uint32_t> indexes_;
};

inline std::string attribute(const attribute_list& attributes, std::string_view key) {
  for (const auto& [name, value] : attributes) {
    if (name != key)
      continue;
    if (const auto* text = std::get_if<std::string>(&value))
      return *text;
    if (const auto* n = std::get_if<std::int64_t>(&value))
      return std::to_string(*n);
    if (const auto* yes = std::get_if<bool>(&value))
      return *yes ? "true" : "false";
    return std::to_string(std::get<double>(value));
  }
  return {};
}

inline const trace_span* find_span(const std::vector<trace_span>& spans, std::string_view name) {
  for (const auto& s : spans)
    if (s.name == name)
      return &s;
  return nullptr;
}

// Each span as "name start-end", below its parent and in the order of their starts. A span whose parent is not there
// comes at the top, with a question mark.
inline std::string span_tree(const std::vector<trace_span>& spans) {
  std::map<std::string, const trace_span*> by_id;
  for (const auto& s : spans)
    by_id[s.trace_id + s.span_id] = &s;
  std::map<const trace_span*, std::vector<const trace_span*>> below;
  for (const auto& s : spans) {
    auto parent = by_id.find(s.trace_id + s.parent_id);
    below[parent == by_id.end() ? nullptr : parent->second].push_back(&s);
  }
  std::string out;
  auto write = [&](auto& self, const trace_span* parent, const std::string& indent) -> void {
    auto children = below[parent];
    std::stable_sort(children.begin(), children.end(),
                     [](const trace_span* a, const trace_span* b) { return a->start < b->start; });
    for (const auto* s : children) {
      auto ms = [](timestamp t) { return std::to_string(t.time_since_epoch().count() / 1000); };
      out += indent + (parent == nullptr && !s->parent_id.empty() ? "? " : "") + s->name + ' ' +
             ms(s->start) + '-' + ms(s->end) + (s->status == span_status::error ? " error" : "") +
             (attribute(s->attributes, "troupe.incomplete").empty() ? "" : " incomplete") + '\n';
      self(self, s, indent + "  ");
    }
  };
  write(write, nullptr, {});
  return out;
}

} // namespace troupe::test
