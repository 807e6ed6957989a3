// Models behind the Anthropic Messages API.
//
// Protocol: POST {base_url}/messages of Anthropic's API reference (version 2023-06-01). Thinking goes back with
// its signature, and blocks of kinds that are not modelled (server tools and their results, redacted thinking)
// go back as they came. An answer that the service pauses (stop_reason pause_turn) is resumed within the call.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/providers/model_service.hpp>

#include <cstdint>
#include <string>

namespace troupe::net {

// What is marked for the service's prompt cache.
enum class anthropic_cache : std::uint8_t {
  none,
  prefix,       // tools and system message, which stay the same over the turns of an agent
  conversation, // these and, by the request's own mark, all that has been said so far
};

// How a thinking level is told.
enum class anthropic_thinking : std::uint8_t {
  by_model, // adaptive from version 4.6 on, by the model's name
  budget,   // a number of tokens
  adaptive, // an effort
};

// The base URL is https://api.anthropic.com/v1 unless given; the key is sent as x-api-key.
struct anthropic_options : model_service {
  std::string version = "2023-06-01"; // header anthropic-version
  anthropic_cache cache = anthropic_cache::conversation;
  anthropic_thinking thinking = anthropic_thinking::by_model;
  thinking_budgets budgets{};
  std::uint32_t default_max_tokens = 8192; // the API wants a number; with a budget that comes on top
  std::uint32_t max_resumptions = 8;       // of a paused answer in one call; then it counts as it is
};

// Fails and behaves as model_service says.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_anthropic_provider(anthropic_options options, std::shared_ptr<http_client> client);

} // namespace troupe::net
