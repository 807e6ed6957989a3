// What all providers that speak HTTP have in common: where the service is and how it is reached.
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

// The maker of a provider fails with bad_config when the URL, a header or the CA file is not usable. The
// client outlives the provider.
//
// What a call ends with when it fails: 401, 402 and 403 model_auth, 404 model_not_found, 429
// model_rate_limited (with the time that Retry-After asks for), 400, 413 and 422 model_bad_request, 408, 409
// and 5xx model_unavailable; an answer that is not JSON model_bad_response; one without text, data and calls
// model_empty; a refusal model_refused; no connection connection_failed; a connection that ends early
// connection_lost; silence stalled. An error in an answer with status 200 counts as the status that it stands
// for. Once a chunk was shown, no failure is retryable.
struct model_service {
  std::string base_url{}; // with the version of the API; empty: the provider's own
  std::string api_key{};  // empty sends none. Never logged, and cut out of messages
  std::vector<std::pair<std::string, std::string>> headers{}; // added to each request
  http_timeouts timeouts{};
  std::string ca_file{};                          // PEM; empty trusts the system's authorities
  std::size_t max_event_bytes = 16 * 1024 * 1024; // of one event of a stream
  std::string extra_body{}; // members that end the JSON of each request: "\"top_p\":0.9", or empty
};

// Tokens that a model may think with, where a service wants a number.
struct thinking_budgets {
  std::uint32_t low = 2048;
  std::uint32_t medium = 8192;
  std::uint32_t high = 24'576;

  // 0 for thinking_level::off and automatic.
  [[nodiscard]] std::uint32_t of(thinking_level level) const noexcept {
    switch (level) {
    case thinking_level::low:
      return low;
    case thinking_level::medium:
      return medium;
    case thinking_level::high:
      return high;
    case thinking_level::automatic:
    case thinking_level::off:
      break;
    }
    return 0;
  }
};

} // namespace troupe::net
