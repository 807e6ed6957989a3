// Models behind the OpenAI Responses API.
//
// Protocol: POST {base_url}/responses of OpenAI's API description. Nothing is stored with the service: each
// request carries the whole conversation, and reasoning goes back encrypted, as it came.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/providers/model_service.hpp>

#include <cstdint>
#include <string>

namespace troupe::net {

// Whether reasoning is asked for in its encrypted form; models that do not reason refuse the question.
enum class encrypted_reasoning : std::uint8_t { by_model, never, always };

// The base URL is https://api.openai.com/v1 unless given; the key is sent as bearer token.
struct openai_responses_options : model_service {
  encrypted_reasoning encrypted = encrypted_reasoning::by_model;
  bool strict_schema = false;        // asks the service to enforce the output schema to the letter
  std::string effort_off = "none";   // the effort for thinking_level::off; empty sends nothing
  std::string summary_kind = "auto"; // the summary of the reasoning that is asked for; empty asks for none
};

// Fails and behaves as model_service says.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_openai_responses_provider(openai_responses_options options, std::shared_ptr<http_client> client);

} // namespace troupe::net
