// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/event.hpp>

#include <array>
#include <type_traits>
#include <utility>

namespace troupe {
namespace {

constexpr std::array<std::string_view, 17> kind_names = {
    "user_message", "model_text",    "thought",           "tool_call",
    "tool_result",  "agent_started", "agent_ended",       "question",
    "answer",       "steering",      "background_result", "state",
    "compaction",   "delivered",     "warning",           "error",
    "other"};

using nlohmann::json;

std::string text_of(const json& j, const char* key) {
  return j.at(key).get<std::string>();
}

errc code_of(const json& j) {
  return errc_from_string(j.value("code", std::string{})).value_or(errc::internal);
}

void set_blob(json& j, const std::string& blob) {
  if (!blob.empty())
    j["blob"] = blob;
}

json body_json(const user_message_body& b) {
  return *b.content;
}
json body_json(const model_text_body& b) {
  json j = {{"turn", b.turn}, {"text", b.text}};
  set_blob(j, b.blob);
  return j;
}
json body_json(const thought_body& b) {
  json j = {{"turn", b.turn}, {"text", b.text}};
  set_blob(j, b.blob);
  return j;
}
json body_json(const tool_call_body& b) {
  json j = {{"turn", b.turn}, {"call_id", b.call.str()}, {"name", b.name}, {"arguments", b.arguments}};
  set_blob(j, b.blob);
  return j;
}
json body_json(const tool_result_body& b) {
  json j = {{"call_id", b.call.str()}, {"name", b.name}, {"text", b.text}};
  if (b.is_error)
    j["is_error"] = true;
  if (b.code)
    j["code"] = to_string(*b.code);
  return j;
}
json body_json(const agent_started_body& b) {
  json j = {{"name", b.name}, {"kind", b.kind}, {"model", b.model}, {"parent", b.parent}};
  if (b.background)
    j["background"] = true;
  return j;
}
json body_json(const agent_ended_body& b) {
  return {{"outcome", b.outcome}, {"turns", b.turns}};
}
json body_json(const question_body& b) {
  return {
      {"question_id", b.question.str()}, {"message", b.message}, {"schema", b.schema}, {"reason", b.reason}};
}
json body_json(const answer_body& b) {
  return {{"question_id", b.question.str()}, {"value", b.value}, {"by", b.by}};
}
json body_json(const steering_body& b) {
  return {{"text", b.text}, {"by", b.by}};
}
json body_json(const background_result_body& b) {
  return {{"task_id", b.task.str()}, {"name", b.name}, {"outcome", b.outcome}};
}
json body_json(const state_body& b) {
  json j = {{"key", b.key}, {"value", b.value}};
  if (b.found)
    j["found"] = true;
  return j;
}
json body_json(const compaction_body& b) {
  return {{"contents", b.contents}, {"summary", b.summary}};
}
json body_json(const delivered_body& b) {
  return {{"hints", b.hints}, {"background_results", b.background_results}};
}
json body_json(const warning_body& b) {
  json j = {{"code", to_string(b.code)}, {"message", b.message}};
  if (!b.note.empty())
    j["note"] = b.note;
  if (b.grace)
    j["grace"] = true;
  return j;
}
json body_json(const error_body& b) {
  return {{"code", to_string(b.code)}, {"message", b.message}};
}
json body_json(const other_body& b) {
  return b.body;
}

template <class T>
T parse(const json& j);

template <>
user_message_body parse(const json& j) {
  return {std::make_shared<const content>(j.get<content>())};
}
template <>
model_text_body parse(const json& j) {
  return {j.at("turn"), text_of(j, "text"), j.value("blob", std::string{})};
}
template <>
thought_body parse(const json& j) {
  return {j.at("turn"), text_of(j, "text"), j.value("blob", std::string{})};
}
template <>
tool_call_body parse(const json& j) {
  return {j.at("turn"), call_id{text_of(j, "call_id")}, text_of(j, "name"), text_of(j, "arguments"),
          j.value("blob", std::string{})};
}
template <>
tool_result_body parse(const json& j) {
  tool_result_body b{
      call_id{text_of(j, "call_id")}, text_of(j, "name"), text_of(j, "text"), j.value("is_error", false), {}};
  if (j.contains("code"))
    b.code = code_of(j);
  return b;
}
template <>
agent_started_body parse(const json& j) {
  return {text_of(j, "name"), text_of(j, "kind"), text_of(j, "model"), j.at("parent"),
          j.value("background", false)};
}
template <>
agent_ended_body parse(const json& j) {
  return {j.at("outcome").get<outcome>(), j.value("turns", 0U)};
}
template <>
question_body parse(const json& j) {
  return {call_id{text_of(j, "question_id")}, text_of(j, "message"), j.value("schema", json{}),
          text_of(j, "reason")};
}
template <>
answer_body parse(const json& j) {
  return {call_id{text_of(j, "question_id")}, j.value("value", json{}), j.value("by", std::string{})};
}
template <>
steering_body parse(const json& j) {
  return {text_of(j, "text"), j.value("by", std::string{})};
}
template <>
background_result_body parse(const json& j) {
  return {call_id{text_of(j, "task_id")}, text_of(j, "name"), j.at("outcome").get<outcome>()};
}
template <>
state_body parse(const json& j) {
  return {text_of(j, "key"), j.value("value", json{}), j.value("found", false)};
}
template <>
compaction_body parse(const json& j) {
  return {j.at("contents"), text_of(j, "summary")};
}
template <>
delivered_body parse(const json& j) {
  return {j.value("hints", 0U), j.value("background_results", 0U)};
}
template <>
warning_body parse(const json& j) {
  return {code_of(j), text_of(j, "message"), j.value("note", std::string{}), j.value("grace", false)};
}
template <>
error_body parse(const json& j) {
  return {code_of(j), text_of(j, "message")};
}

template <std::size_t I = 0>
event_body parse_body(event_kind kind, const std::string& name, const json& j) {
  if constexpr (I + 1 == std::variant_size_v<event_body>) {
    return other_body{name, j};
  } else {
    if (static_cast<std::size_t>(kind) == I)
      return parse<std::variant_alternative_t<I, event_body>>(j);
    return parse_body<I + 1>(kind, name, j);
  }
}

std::string kind_name(const event& e) {
  if (const auto* other = e.as<other_body>())
    return other->kind;
  return std::string{to_string(e.kind())};
}

} // namespace

std::string_view to_string(event_kind k) noexcept {
  return kind_names[static_cast<std::size_t>(k)];
}

event_kind event_kind_from_string(std::string_view name) noexcept {
  for (std::size_t i = 0; i + 1 < kind_names.size(); ++i)
    if (kind_names[i] == name)
      return static_cast<event_kind>(i);
  return event_kind::other;
}

std::string event::id() const {
  return origin->agent.str() + "/e" + std::to_string(index);
}

void to_json(json& j, const event& e) {
  const auto& o = *e.origin;
  j = {{"seq", e.seq},
       {"id", e.id()},
       {"session_id", o.session.str()},
       {"run_id", o.run.str()},
       {"time", e.time.time_since_epoch().count()},
       {"author", o.author},
       {"agent_id", o.agent.str()},
       {"branch", o.branch},
       {"kind", kind_name(e)},
       {"body", std::visit([](const auto& body) { return body_json(body); }, e.body)}};
  if (!o.parent_call.empty())
    j["parent_call_id"] = o.parent_call.str();
  if (e.usage != usage{})
    j["usage"] = e.usage;
}

void from_json(const json& j, event& e) {
  auto o = std::make_shared<event_origin>();
  o->session = session_id{text_of(j, "session_id")};
  o->run = run_id{text_of(j, "run_id")};
  o->agent = agent_id{text_of(j, "agent_id")};
  o->author = text_of(j, "author");
  o->branch = text_of(j, "branch");
  o->parent_call = call_id{j.value("parent_call_id", std::string{})};
  session_id ignored;
  if (!split_agent_id(o->agent, ignored, o->number))
    o->number = 0;
  const auto name = text_of(j, "kind");
  e.seq = j.at("seq");
  const auto id = text_of(j, "id");
  auto mark = id.rfind("/e");
  e.index = mark == std::string::npos
                ? 0
                : static_cast<std::uint32_t>(std::strtoul(id.c_str() + mark + 2, nullptr, 10));
  e.time = timestamp{std::chrono::microseconds{j.at("time").get<std::int64_t>()}};
  e.origin = std::move(o);
  e.body = parse_body(event_kind_from_string(name), name, j.at("body"));
  e.usage = j.contains("usage") ? j.at("usage").get<usage>() : usage{};
}

void to_json(json& j, const partial& p) {
  j = {{"agent_id", p.agent.str()},
       {"message_id", p.message_id},
       {"kind", p.thought ? "thought" : "text"},
       {"offset", p.offset},
       {"text", p.text}};
}

} // namespace troupe
