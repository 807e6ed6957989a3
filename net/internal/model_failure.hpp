// What a failed HTTP exchange means for a call of a model; the same for all services.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <string>
#include <string_view>

namespace troupe::net {

// Who answered, and what must not appear in a message.
struct model_endpoint {
  std::string url;    // without credentials
  std::string secret; // the API key; may be empty
};

// The code for an HTTP status that is not a success, and whether it makes sense to try again.
[[nodiscard]] model_error classify_status(int status) noexcept;

// "The model service at URL answered 401: TEXT. Check the API key."; `text` is what the service says, or its
// body.
[[nodiscard]] model_error status_failure(const model_endpoint& endpoint, int status, std::string_view text);

// An error of the connection. `shown` tells that part of the answer has been given already.
[[nodiscard]] model_error transport_failure(const model_endpoint& endpoint, const http_error& error,
                                            bool shown);

// A failure for another reason: "The model service at URL WHAT".
[[nodiscard]] model_error answer_failure(const model_endpoint& endpoint, errc code, bool retryable,
                                         std::string_view what);

// The beginning of `body` as one line of valid text, for messages.
[[nodiscard]] std::string excerpt(std::string_view body);

} // namespace troupe::net
