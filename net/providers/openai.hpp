// Models behind the OpenAI Chat Completions API: OpenAI, Ollama, llama.cpp, vLLM, OpenRouter and others by
// base URL.
//
// Protocol: POST {base_url}/chat/completions of OpenAI's API description. Compatible servers differ, so the
// provider is strict in what it sends and lenient in what it reads (missing indexes, whole calls in one
// chunk, reasoning fields of several names, errors inside a stream).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_message.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::net {

class http_client;

struct openai_options {
  std::string base_url = "https://api.openai.com/v1";
  std::string api_key; // sent as bearer token; empty sends none. Never logged, and cut out of messages
  std::vector<std::pair<std::string, std::string>> headers; // added to each request
  http_timeouts timeouts;
  std::string ca_file;      // PEM; empty trusts the system's authorities
  bool stream_usage = true; // asks for token counts in streams by stream_options; a few servers refuse it
  bool legacy_max_tokens = false;  // sends max_tokens instead of max_completion_tokens
  bool strict_schema = false;      // asks the service to enforce the output schema to the letter
  std::string effort_off = "none"; // the reasoning_effort for thinking_level::off; empty sends nothing
  std::size_t max_event_bytes = 16 * 1024 * 1024; // of one event of a stream
};

// Fails with bad_config when the URL, a header or the CA file is not usable. The client outlives the
// provider.
//
// What a call ends with when it fails: 401 and 403 model_auth, 404 model_not_found, 429 model_rate_limited
// (with the time that Retry-After asks for), 400, 413 and 422 model_bad_request, 408, 409 and 5xx
// model_unavailable; an answer that is not JSON model_bad_response; one without text and calls model_empty; a
// refusal model_refused; no connection connection_failed; a connection that ends early connection_lost;
// silence stalled. Once a chunk was shown, the loss of the connection is not retryable.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_openai_provider(openai_options options, std::shared_ptr<http_client> client);

} // namespace troupe::net
