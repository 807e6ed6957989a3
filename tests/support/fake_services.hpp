// Model services that answer what a test says, in the protocol that they are asked in: Chat Completions, Responses,
// Messages and generateContent, whole and streamed. The services' own clients take their answers (tests/interop).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "support/test_server.hpp"

namespace troupe::test {

struct fake_call {
  std::string name;
  nlohmann::json arguments = nlohmann::json::object();
};

// What the model says: first the thought, then the text, then the calls. Each call gets the id "id_<index>"; the
// counts of tokens are always 10 for the prompt, of which 4 cached, and 5 for the answer, of which 2 of thinking.
struct fake_answer {
  std::string thought;
  std::string text;
  std::vector<fake_call> calls;
};

enum class fake_api : std::uint8_t { chat, responses, messages, gemini };

// The protocol that the path of a request belongs to.
[[nodiscard]] fake_api api_of(const seen_request& request);
[[nodiscard]] bool wants_stream(const seen_request& request);

[[nodiscard]] scripted_reply fake_reply(const seen_request& request, const fake_answer& said);

} // namespace troupe::test
