// Models behind the Gemini API: generateContent and streamGenerateContent of the Gemini API or of Vertex AI.
//
// Protocol: POST {base_url}/models/{model}:generateContent of Google's API reference. Thought signatures go
// back in the parts in which they came, and parts of kinds that are not modelled (code execution, the service's
// own tools) go back as they came.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/providers/model_service.hpp>

namespace troupe::net {

// The base URL is https://generativelanguage.googleapis.com/v1beta unless given; for Vertex AI it ends with
// /publishers/google, and the token comes as a header. The key is sent as x-goog-api-key.
struct gemini_options : model_service {
  bool schema_subset = false; // sends schemas in the OpenAPI subset instead of JSON Schema: for older models
  bool include_thoughts = false; // asks for thoughts even when no thinking level is set
  thinking_budgets budgets{};    // for models before version 3
  std::string extra_config{};    // members that end generationConfig: "\"topK\":5", or empty
};

// Fails and behaves as model_service says.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_gemini_provider(gemini_options options, std::shared_ptr<http_client> client);

} // namespace troupe::net
