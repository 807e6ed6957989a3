// Writes requests of the Chat Completions API, in shared pieces (request_text.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/net/providers/openai.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <string>
#include <vector>

namespace troupe::net {

// The pieces of the body, valid UTF-8 whatever the contents hold. The order of the keys is tools, messages,
// settings.
[[nodiscard]] std::vector<body_piece> encode_openai_request(const model_request& request,
                                                            const openai_options& options);

// The messages of one content, each with a comma before it; empty when there is nothing to send. Thoughts are
// sent `with_reasoning` only; the details that OpenRouter wants back always are.
[[nodiscard]] std::string encode_openai_content(const content& c, bool with_reasoning = false);

// The provider's own id out of a part's blob, else ours.
[[nodiscard]] std::string openai_call_id(const part& p, const call_id& ours);

} // namespace troupe::net
