// Writes requests of the Messages API, in shared pieces (request_text.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/net/providers/anthropic.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

// The pieces of the body, valid UTF-8 whatever the contents hold. The order of the keys is tools, system,
// messages, settings. `extra` is a further message with a comma before it, or empty.
[[nodiscard]] std::vector<body_piece> encode_anthropic_request(const model_request& request,
                                                               const anthropic_options& options,
                                                               const std::string& extra);

// The message of one content with a comma before it; empty when there is nothing to send. Thoughts without the
// service's signature are left out, and so are texts of white space, which it refuses.
[[nodiscard]] std::string encode_anthropic_content(const content& c);

// The model with this name takes an effort and no budget: version 4.6 and later.
[[nodiscard]] bool thinks_adaptively(std::string_view model) noexcept;

} // namespace troupe::net
