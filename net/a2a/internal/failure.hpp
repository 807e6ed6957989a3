// What a fault of a remote agent means for the call: the one place that says so, for card, sending and stream alike. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net::a2a {

// What A2A calls its errors, as JSON-RPC numbers.
enum class peer_code : std::int32_t {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  task_not_found = -32001,
  task_not_cancelable = -32002,
  push_not_supported = -32003,
  unsupported_operation = -32004,
  content_type_not_supported = -32005,
  invalid_agent_response = -32006,
  extended_card_not_configured = -32007,
  extension_required = -32008,
  version_not_supported = -32009,
};

// What was done when the fault came.
enum class activity : std::uint8_t { card, send, stream };

struct fault {
  activity during = activity::send;
  std::optional<http_error> transport{}; // no answer
  int status = 0;                        // of the answer; 0: none
  std::optional<std::int32_t> code{};    // of a JSON-RPC error, or the one that an HTTP error stands for
  std::string said{};                    // what the peer says of it
  std::string wants{};                   // WWW-Authenticate, or what the card asks for
};

// `agent` is the remote agent's name and `url` where it was asked. `accepted` tells that the peer has taken the message:
// then nothing is sent again by itself.
[[nodiscard]] model_error classify(const std::string& agent, const std::string& url, const fault& f,
                                   bool accepted);

// Reads an error out of a body: JSON-RPC, google.rpc.Status, or the one of 0.3. False when there is none.
[[nodiscard]] bool read_error(const nlohmann::json& body, fault& out);

// `text` with each run of blanks and control characters as one blank, and what is not UTF-8 replaced.
[[nodiscard]] std::string one_line(std::string_view text);

// Text of a peer as it stands in a message: one line of at most 2000 bytes, without secrets.
[[nodiscard]] std::string peer_text(std::string_view text);

// How a task that has ended without a result ends the call.
[[nodiscard]] model_error ended_badly(const std::string& agent, std::string_view state, errc code,
                                      std::string_view said, std::string_view partial);

} // namespace troupe::net::a2a
