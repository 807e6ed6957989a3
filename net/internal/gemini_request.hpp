// Writes requests of generateContent, in shared pieces (request_text.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/net/providers/gemini.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

// The pieces of the body, valid UTF-8 whatever the contents hold. The order of the keys is tools,
// systemInstruction, contents, settings.
[[nodiscard]] std::vector<body_piece> encode_gemini_request(const model_request& request,
                                                            const gemini_options& options);

// One content with a comma before it; empty when there is nothing to send. A call that the service has not made
// itself carries the word that stands for a signature, without which models from version 3 on refuse it.
[[nodiscard]] std::string encode_gemini_content(const content& c);

// "/models/MODEL:generateContent"; a model whose name holds a slash is taken as a path.
[[nodiscard]] std::string gemini_target(const model_request& request);

// 2.5 for "gemini-2.5-flash", 3 for names without a version: those of the newest models.
[[nodiscard]] double gemini_version(std::string_view model) noexcept;

} // namespace troupe::net
