// Conversations for the tests of what providers send.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

inline std::string joined(const std::vector<net::body_piece>& pieces) {
  std::string out;
  for (const auto& piece : pieces)
    out += piece.view();
  CHECK(nlohmann::json::accept(out));
  return out;
}

inline model_request request_with(prompt_head head, std::vector<content> contents) {
  model_request request;
  request.model = "m";
  request.head = std::make_shared<const prompt_head>(std::move(head));
  for (auto& c : contents)
    request.contents.append(std::move(c));
  return request;
}

inline content said(role who, std::vector<part> parts) {
  content c;
  c.role = who;
  c.parts = std::move(parts);
  return c;
}

inline part text(std::string t, std::string blob = {}) {
  return {text_part{std::move(t)}, std::move(blob)};
}
inline part thought(std::string t, std::string blob = {}) {
  return {thought_part{std::move(t)}, std::move(blob)};
}
inline part call(std::string id, std::string arguments, std::string blob = {}) {
  return {tool_call_part{call_id(std::move(id)), "look", std::move(arguments)}, std::move(blob)};
}
inline part answer_to(std::string id, std::string t, std::string blob = {}, bool is_error = false) {
  return {tool_result_part{call_id(std::move(id)), "look", std::move(t), is_error}, std::move(blob)};
}
inline part data(std::string type, std::string bytes, std::string uri) {
  return {data_part{std::move(type), std::move(bytes), std::move(uri)}, {}};
}

// A head with one tool and a system message.
inline prompt_head look_head() {
  prompt_head head;
  head.system = "Be \"good\".";
  head.tools.push_back({"look", "Looks.", nlohmann::json{{"type", "object"}}});
  return head;
}

} // namespace troupe::test
