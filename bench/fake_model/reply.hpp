// An answer as bytes of HTTP: a body of JSON, or a stream of events.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "script.hpp"

namespace fake_model {

// Each piece is one write, `gap` after the time of the one before; the first comes after `latency`.
struct reply {
  std::vector<std::string> pieces;
  std::chrono::microseconds latency{0};
  std::chrono::microseconds gap{0};
  bool stamped = false; // as in answer
};

[[nodiscard]] reply json_reply(int status, std::string_view body);

// The answer to a chat completion, streamed where the request asks for it. Throws where the body is no request.
[[nodiscard]] reply completion_reply(const answer& a, bool streamed, bool with_usage);

} // namespace fake_model
