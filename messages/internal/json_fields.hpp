// What each message looks like in JSON, for both ways of writing it (see json_object.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/json_object.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace troupe::internal {

template <class Object>
void write_fields(Object& o, const usage& u) {
  o.number("input", u.input);
  o.number("cached", u.cached);
  o.number("output", u.output);
  o.number("reasoning", u.reasoning);
  if (u.cost_nano_usd != 0)
    o.number("cost_nano_usd", u.cost_nano_usd);
}

template <class Object>
void write_fields(Object& o, const event_timing& t) {
  if (t.queued != 0)
    o.number("queued_us", t.queued);
  if (t.first != 0)
    o.number("first_us", t.first);
  if (t.took != 0)
    o.number("took_us", t.took);
}

template <class Object>
void write_fields(Object& o, const outcome& result) {
  o.text("status", to_string(result.status()));
  o.text("text", result.text());
  if (result.value())
    o.value("value", *result.value());
  if (result.failed()) {
    o.text("code", to_string(result.code()));
    o.text("detail", result.detail());
    if (result.recovered())
      o.yes("recovered");
  }
  if (result.cancelled())
    o.text("by", result.by());
}

template <class Object>
void write_blob(Object& o, const std::string& blob) {
  if (!blob.empty())
    o.text("blob", blob);
}

template <class Object>
void write_fields(Object& o, const text_part& p) {
  o.text("type", "text");
  o.text("text", p.text);
}

template <class Object>
void write_fields(Object& o, const thought_part& p) {
  o.text("type", "thought");
  o.text("text", p.text);
}

template <class Object>
void write_fields(Object& o, const tool_call_part& p) {
  o.text("type", "tool_call");
  o.text("call_id", p.call.str());
  o.text("name", p.name);
  o.text("arguments", p.arguments);
}

template <class Object>
void write_fields(Object& o, const tool_result_part& p) {
  o.text("type", "tool_result");
  o.text("call_id", p.call.str());
  o.text("name", p.name);
  o.text("text", p.text);
  if (p.is_error)
    o.yes("is_error");
}

template <class Object>
void write_fields(Object& o, const data_part& p) {
  o.text("type", "data");
  o.text("mime_type", p.mime_type);
  if (p.uri.empty())
    o.text("data", p.base64);
  else
    o.text("uri", p.uri);
}

template <class Object>
void write_fields(Object& o, const part& p) {
  std::visit([&o](const auto& value) { write_fields(o, value); }, p.value);
  write_blob(o, p.blob);
}

template <class Object>
void write_fields(Object& o, const content& c) {
  o.text("role", to_string(c.role));
  o.objects("parts", c.parts, [](auto& inner, const part& p) { write_fields(inner, p); });
}

template <class Object>
void write_fields(Object& o, const user_message_body& b) {
  write_fields(o, *b.content);
}

template <class Object>
void write_fields(Object& o, const model_text_body& b) {
  o.number("turn", b.turn);
  o.text("text", b.text);
  write_blob(o, b.blob);
}

template <class Object>
void write_fields(Object& o, const thought_body& b) {
  o.number("turn", b.turn);
  o.text("text", b.text);
  write_blob(o, b.blob);
}

template <class Object>
void write_fields(Object& o, const tool_call_body& b) {
  o.number("turn", b.turn);
  o.text("call_id", b.call.str());
  o.text("name", b.name);
  o.text("arguments", b.arguments);
  write_blob(o, b.blob);
}

template <class Object>
void write_fields(Object& o, const tool_result_body& b) {
  o.text("call_id", b.call.str());
  o.text("name", b.name);
  o.text("text", b.text);
  if (b.is_error)
    o.yes("is_error");
  if (b.code)
    o.text("code", to_string(*b.code));
  if (!b.data.empty())
    o.objects("data", b.data, [](auto& inner, const data_part& d) { write_fields(inner, d); });
}

template <class Object>
void write_fields(Object& o, const agent_started_body& b) {
  o.text("name", b.name);
  o.text("kind", b.kind);
  o.text("model", b.model);
  o.number("parent", b.parent);
  if (b.background)
    o.yes("background");
}

template <class Object>
void write_fields(Object& o, const agent_ended_body& b) {
  o.object("outcome", [&](auto& inner) { write_fields(inner, b.outcome); });
  o.number("turns", b.turns);
}

template <class Object>
void write_fields(Object& o, const question_body& b) {
  o.text("question_id", b.question.str());
  o.text("message", b.message);
  o.value("schema", b.schema);
  o.text("reason", b.reason);
}

template <class Object>
void write_fields(Object& o, const answer_body& b) {
  o.text("question_id", b.question.str());
  o.value("value", b.value);
  o.text("by", b.by);
}

template <class Object>
void write_fields(Object& o, const steering_body& b) {
  o.text("text", b.text);
  o.text("by", b.by);
}

template <class Object>
void write_fields(Object& o, const background_result_body& b) {
  o.text("task_id", b.task.str());
  o.text("name", b.name);
  o.object("outcome", [&](auto& inner) { write_fields(inner, b.outcome); });
}

template <class Object>
void write_fields(Object& o, const state_body& b) {
  o.text("key", b.key);
  o.value("value", b.value);
  if (b.found)
    o.yes("found");
}

template <class Object>
void write_fields(Object& o, const compaction_body& b) {
  o.number("contents", b.contents);
  o.text("summary", b.summary);
}

template <class Object>
void write_fields(Object& o, const delivered_body& b) {
  o.number("hints", b.hints);
  o.number("background_results", b.background_results);
}

template <class Object>
void write_fields(Object& o, const warning_body& b) {
  o.text("code", to_string(b.code));
  o.text("message", b.message);
  if (!b.note.empty())
    o.text("note", b.note);
  if (b.grace)
    o.yes("grace");
}

template <class Object>
void write_fields(Object& o, const error_body& b) {
  o.text("code", to_string(b.code));
  o.text("message", b.message);
}

// The body of a kind that this version does not know goes on as it is, whatever it is.
template <class Object>
void write_body(Object& o, const event& e) {
  std::visit(
      [&o](const auto& body) {
        if constexpr (std::is_same_v<std::decay_t<decltype(body)>, other_body>)
          o.value("body", body.body);
        else
          o.object("body", [&body](auto& inner) { write_fields(inner, body); });
      },
      e.body);
}

template <class Object>
void write_fields(Object& o, const event& e) {
  const auto& origin = *e.origin;
  const auto* other = e.as<other_body>();
  o.number("seq", e.seq);
  o.text("id", e.id());
  o.text("session_id", origin.session.str());
  o.text("run_id", origin.run.str());
  o.number("time", e.time.time_since_epoch().count());
  o.text("author", origin.author);
  o.text("agent_id", origin.agent.str());
  o.text("branch", origin.branch);
  if (!origin.parent_call.empty())
    o.text("parent_call_id", origin.parent_call.str());
  o.text("kind", other != nullptr ? std::string_view{other->kind} : to_string(e.kind()));
  write_body(o, e);
  if (e.usage != usage{})
    o.object("usage", [&e](auto& inner) { write_fields(inner, e.usage); });
  if (e.timing != event_timing{})
    o.object("timing", [&e](auto& inner) { write_fields(inner, e.timing); });
}

// to_json of the messages.
template <class Message>
void write_tree(nlohmann::json& j, const Message& message) {
  tree_object o{j};
  write_fields(o, message);
}

} // namespace troupe::internal
