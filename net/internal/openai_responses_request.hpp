// Writes requests of the Responses API, in shared pieces (request_text.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/net/providers/openai_responses.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

// The pieces of the body, valid UTF-8 whatever the contents hold. The order of the keys is tools, instructions,
// input, settings.
[[nodiscard]] std::vector<body_piece>
encode_openai_responses_request(const model_request& request, const openai_responses_options& options);

// The input items of one content, each with a comma before it; empty when there is nothing to send. Thoughts go
// back only as the encrypted items in which they came.
[[nodiscard]] std::string encode_openai_responses_content(const content& c);

} // namespace troupe::net
