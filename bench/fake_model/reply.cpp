// SPDX-License-Identifier: Apache-2.0
#include "reply.hpp"

#include <boost/json.hpp>

#include <array>
#include <cstdio>

namespace fake_model {
namespace {

namespace json = boost::json;

constexpr std::string_view stream_head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                         "Transfer-Encoding: chunked\r\n\r\n";

std::string call_id(const answer& a, std::size_t i) {
  return "call_" + std::to_string(a.turn) + "_" + std::to_string(i);
}

json::object usage_of(const answer& a) {
  const auto tokens = 10 * (a.text.size() + a.calls.size());
  return {{"prompt_tokens", 20}, {"completion_tokens", tokens}, {"total_tokens", 20 + tokens}};
}

// Clients take messages of one conversation for the same where their ids are.
json::object frame(const answer& a, std::string_view object, json::array choices) {
  return {{"id", "chatcmpl-" + std::to_string(a.turn)},
          {"object", object},
          {"created", 1'700'000'000},
          {"model", "fake"},
          {"choices", std::move(choices)}};
}

std::string http_chunk(std::string_view data) {
  std::array<char, 24> size{};
  const auto length = std::snprintf(size.data(), size.size(), "%zx\r\n", data.size());
  std::string out{size.data(), static_cast<std::size_t>(length)};
  out += data;
  out += "\r\n";
  return out;
}

std::string event(const json::object& data) {
  return http_chunk("data: " + json::serialize(data) + "\n\n");
}

std::string delta(const answer& a, json::object what, json::value finish = nullptr) {
  json::array choices;
  choices.push_back(
      json::object{{"index", 0}, {"delta", std::move(what)}, {"finish_reason", std::move(finish)}});
  return event(frame(a, "chat.completion.chunk", std::move(choices)));
}

reply streamed_reply(const answer& a, bool with_usage) {
  reply r;
  r.pieces.emplace_back(stream_head);
  r.pieces.back() +=
      delta(a, {{"role", "assistant"}, {"content", a.text.empty() ? json::value() : json::value("")}});
  for (const auto& piece : a.text)
    r.pieces.push_back(delta(a, {{"content", piece}}));
  for (std::size_t i = 0; i < a.calls.size(); ++i)
    r.pieces.push_back(
        delta(a, {{"tool_calls",
                   json::array{json::object{
                       {"index", i},
                       {"id", call_id(a, i)},
                       {"type", "function"},
                       {"function", {{"name", a.calls[i].name}, {"arguments", a.calls[i].arguments}}}}}}}));
  std::string last = delta(a, {}, a.calls.empty() ? "stop" : "tool_calls");
  if (with_usage) {
    auto usage = frame(a, "chat.completion.chunk", {});
    usage["usage"] = usage_of(a);
    last += event(usage);
  }
  last += http_chunk("data: [DONE]\n\n") + "0\r\n\r\n";
  r.pieces.push_back(std::move(last));
  return r;
}

reply whole_reply(const answer& a) {
  json::object message{{"role", "assistant"}, {"content", nullptr}};
  if (!a.text.empty()) {
    std::string all;
    for (const auto& piece : a.text)
      all += piece;
    message["content"] = all;
  }
  if (!a.calls.empty()) {
    json::array calls;
    calls.reserve(a.calls.size());
    for (std::size_t i = 0; i < a.calls.size(); ++i)
      calls.push_back(
          json::object{{"id", call_id(a, i)},
                       {"type", "function"},
                       {"function", {{"name", a.calls[i].name}, {"arguments", a.calls[i].arguments}}}});
    message["tool_calls"] = std::move(calls);
  }
  json::array choices;
  choices.push_back(json::object{{"index", 0},
                                 {"message", std::move(message)},
                                 {"finish_reason", a.calls.empty() ? "stop" : "tool_calls"}});
  auto body = frame(a, "chat.completion", std::move(choices));
  body["usage"] = usage_of(a);
  return json_reply(200, json::serialize(body));
}

} // namespace

reply json_reply(int status, std::string_view body) {
  reply r;
  r.pieces.push_back("HTTP/1.1 " + std::to_string(status) + (status == 200 ? " OK" : " Error") +
                     "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                     "\r\n\r\n" + std::string{body});
  return r;
}

reply completion_reply(const answer& a, bool streamed, bool with_usage) {
  auto r = streamed ? streamed_reply(a, with_usage) : whole_reply(a);
  r.latency = a.latency;
  r.gap = a.chunk_gap;
  r.stamped = a.stamped;
  return r;
}

} // namespace fake_model
