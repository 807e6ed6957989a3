// SPDX-License-Identifier: Apache-2.0
#include "script.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fake_model {
namespace {

namespace json = boost::json;

constexpr std::int64_t most_calls = 200'000;

struct conversation {
  json::object directive;
  std::uint64_t turn = 0;
  std::uint64_t results = 0;
  std::uint64_t ok = 0;   // results that hold "child-ok"
  std::uint64_t told = 0; // "child-ok" in later messages of the user
};

std::int64_t number(const json::object& o, std::string_view key, std::int64_t otherwise) {
  const auto* v = o.if_contains(key);
  if (v == nullptr || !v->is_number())
    return otherwise;
  return v->is_double() ? static_cast<std::int64_t>(v->get_double()) : v->to_number<std::int64_t>();
}

std::string text(const json::object& o, std::string_view key, std::string_view otherwise) {
  const auto* v = o.if_contains(key);
  return std::string{v != nullptr && v->is_string() ? std::string_view{v->get_string()} : otherwise};
}

// The object that begins at the front of `in`, or nothing.
std::string_view whole_object(std::string_view in) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (quoted) {
      if (in[i] == '\\')
        ++i;
      else if (in[i] == '"')
        quoted = false;
    } else if (in[i] == '"') {
      quoted = true;
    } else if (in[i] == '{') {
      ++depth;
    } else if (in[i] == '}' && --depth == 0) {
      return in.substr(0, i + 1);
    }
  }
  return {};
}

std::string unescaped(std::string_view in) {
  std::string out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] == '\\' && i + 1 < in.size())
      ++i;
    out += in[i];
  }
  return out;
}

// The texts of a message's content: one, or a list of parts.
std::string content_of(const json::object& message) {
  const auto* content = message.if_contains("content");
  if (content == nullptr)
    return {};
  if (content->is_string())
    return std::string{content->get_string()};
  std::string all;
  if (content->is_array())
    for (const auto& part : content->get_array())
      if (part.is_object())
        all += text(part.get_object(), "text", "");
  return all;
}

std::uint64_t count(std::string_view in, std::string_view what) {
  std::uint64_t n = 0;
  for (auto at = in.find(what); at != std::string_view::npos; at = in.find(what, at + what.size()))
    ++n;
  return n;
}

conversation read_conversation(const json::object& request) {
  conversation c;
  for (const auto& item : request.at("messages").as_array()) {
    const auto& message = item.as_object();
    const auto role = text(message, "role", "");
    if (role == "assistant") {
      ++c.turn;
    } else if (role == "tool") {
      ++c.results;
      c.ok += content_of(message).find("child-ok") != std::string::npos ? 1 : 0;
    } else {
      const auto content = content_of(message);
      if (auto directive = find_directive(content); !directive.empty()) {
        c = {};
        c.directive = json::parse(directive).as_object();
      } else {
        c.told += count(content, "child-ok");
      }
    }
  }
  return c;
}

// "plan" stands first: that is how a directive is found.
std::string child_directive(const json::object& directive, std::int64_t i) {
  json::object child;
  child["plan"] = "child";
  child["i"] = i;
  child["turns"] = number(directive, "child_turns", 3);
  child["tool"] = text(directive, "child_tool", "lookup");
  child["latency_ms"] = number(directive, "latency_ms", 0);
  return json::serialize(child);
}

void fan_out(answer& a, const json::object& directive) {
  const auto n = std::clamp<std::int64_t>(number(directive, "n", 1), 0, most_calls);
  const auto tool = text(directive, "tool", "subagent");
  const auto key = text(directive, "args_key", "request");
  for (std::int64_t i = 0; i < n; ++i)
    a.calls.push_back({tool, json::serialize(json::object{{key, child_directive(directive, i)}})});
}

void start_background(answer& a, const json::object& directive) {
  const auto n = std::clamp<std::int64_t>(number(directive, "n", 1), 0, most_calls);
  for (std::int64_t i = 0; i < n; ++i)
    a.calls.push_back({"spawn_subagent", json::serialize(json::object{{"name", "worker_" + std::to_string(i)},
                                                                      {"goal", child_directive(directive, i)},
                                                                      {"background", true}})});
}

void talk_on(answer& a, const conversation& c) {
  if (c.turn == 0)
    start_background(a, c.directive);
  else if (static_cast<std::int64_t>(c.turn) <= number(c.directive, "turns", 5))
    a.calls.push_back({"note", "{}"});
  else
    a.text.push_back("root-ok children_ok=" + std::to_string(c.told));
}

void take_turn(answer& a, const conversation& c, std::string_view plan) {
  const auto i = number(c.directive, "i", 0);
  if (static_cast<std::int64_t>(c.turn) + 1 < number(c.directive, "turns", 3))
    a.calls.push_back({text(c.directive, "tool", "lookup"),
                       json::serialize(json::object{{"i", i}, {"t", c.turn}, {"k", 0}})});
  else
    a.text.push_back(std::string{plan} + "-ok i=" + std::to_string(i) +
                     " results=" + std::to_string(c.results));
}

void stream(answer& a, const json::object& directive) {
  const auto* stamp = directive.if_contains("stamp");
  if (stamp != nullptr && stamp->is_bool() && stamp->get_bool()) {
    a.stamped = true;
    a.latency += std::chrono::microseconds{number(directive, "offset_us", 0)};
    const auto pieces = static_cast<std::size_t>(std::max<std::int64_t>(number(directive, "chunks", 1), 1));
    a.text.assign(pieces, "@" + std::string(16, '0'));
    a.text.front().front() = '#';
    return;
  }
  a.text.push_back(text(directive, "text", "child-ok stream"));
  const auto bytes = std::clamp<std::int64_t>(number(directive, "chunk_bytes", 6), 1, 65'536);
  const auto chunks = number(directive, "chunks", 1);
  for (std::int64_t k = 1; k < chunks; ++k)
    a.text.push_back(" " + std::string(static_cast<std::size_t>(bytes - 1), static_cast<char>('a' + k % 26)));
}

} // namespace

std::string find_directive(std::string_view in) {
  if (auto at = in.rfind("{\"plan\""); at != std::string_view::npos)
    return std::string{whole_object(in.substr(at))};
  if (auto at = in.rfind("{\\\"plan\\\""); at != std::string_view::npos)
    return std::string{whole_object(unescaped(in.substr(at)))};
  return {};
}

answer make_answer(const json::object& request) {
  const auto c = read_conversation(request);
  answer a;
  a.turn = c.turn;
  a.latency = std::chrono::milliseconds{number(c.directive, "latency_ms", 0)};
  a.chunk_gap = std::chrono::microseconds{number(c.directive, "chunk_gap_us", 0)};
  const auto plan = text(c.directive, "plan", "");
  if (plan == "fanout" && c.turn == 0)
    fan_out(a, c.directive);
  else if (plan == "fanout")
    a.text.push_back("root-ok results=" + std::to_string(c.results) + " children_ok=" + std::to_string(c.ok) +
                     " bad=" + std::to_string(c.results - c.ok));
  else if (plan == "child" || plan == "loop")
    take_turn(a, c, plan);
  else if (plan == "background")
    talk_on(a, c);
  else if (plan == "stream")
    stream(a, c.directive);
  else
    a.text.emplace_back("ok");
  return a;
}

} // namespace fake_model
