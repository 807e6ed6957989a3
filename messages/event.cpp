// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/event.hpp>
#include <troupe/messages/internal/json_fields.hpp>

#include <algorithm>
#include <array>
#include <limits>
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
  if (auto data = j.find("data"); data != j.end())
    for (const auto& item : *data)
      b.data.push_back(std::get<data_part>(item.get<part>().value));
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

} // namespace

std::uint32_t timing_us(std::chrono::nanoseconds duration) noexcept {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(us, 1, std::numeric_limits<std::uint32_t>::max()));
}

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
  internal::write_tree(j, e);
}

void append_json(std::string& out, const event& e) {
  text_object o{out};
  internal::write_fields(o, e);
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
  e.timing = {};
  if (auto timing = j.find("timing"); timing != j.end()) {
    e.timing.queued = timing->value("queued_us", std::uint32_t{0});
    e.timing.first = timing->value("first_us", std::uint32_t{0});
    e.timing.took = timing->value("took_us", std::uint32_t{0});
  }
}

void to_json(json& j, const partial& p) {
  j = {{"agent_id", p.agent.str()},
       {"message_id", p.message_id},
       {"kind", p.thought ? "thought" : "text"},
       {"offset", p.offset},
       {"text", p.text}};
}

} // namespace troupe
