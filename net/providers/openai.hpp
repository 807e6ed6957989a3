// Models behind the OpenAI Chat Completions API: OpenAI, Ollama, llama.cpp, vLLM, OpenRouter, Groq, DeepSeek,
// Mistral and others by base URL.
//
// Protocol: POST {base_url}/chat/completions of OpenAI's API description. Compatible servers differ, so the
// provider is strict in what it sends and lenient in what it reads (missing indexes and ids, whole calls in one
// chunk, reasoning fields of several names, counts in several places, errors inside a stream).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/providers/model_service.hpp>

namespace troupe::net {

// The base URL is https://api.openai.com/v1 unless given; the key is sent as bearer token.
struct openai_options : model_service {
  bool stream_usage = true; // asks for token counts in streams by stream_options; a few servers refuse it
  bool legacy_max_tokens = false;  // sends max_tokens instead of max_completion_tokens
  bool strict_schema = false;      // asks the service to enforce the output schema to the letter
  bool return_reasoning = false;   // sends thoughts back under the name under which they came
  std::string effort_off = "none"; // the reasoning_effort for thinking_level::off; empty sends nothing
};

// Fails and behaves as model_service says.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_openai_provider(openai_options options, std::shared_ptr<http_client> client);

} // namespace troupe::net
