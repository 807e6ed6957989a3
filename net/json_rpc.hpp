// JSON-RPC 2.0 messages: read with bounds, written in one line.
//
// Source: jsonrpc.org/specification. Batches are not read: MCP, A2A and ACP have none. Pure, thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/json_text.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace troupe::net {

namespace rpc_code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
} // namespace rpc_code

struct rpc_error {
  int code = rpc_code::internal_error;
  std::string message{};
  nlohmann::json data{}; // null: none
};

// `id` is a string or an integer. `params` is an object, an array, or null when there is none.
struct rpc_request {
  nlohmann::json id;
  std::string method;
  nlohmann::json params{};
};

struct rpc_notification {
  std::string method;
  nlohmann::json params{};
};

// `id` is null when the other side could not read the request's.
struct rpc_response {
  nlohmann::json id;
  std::variant<nlohmann::json, rpc_error> outcome; // the result, or why there is none
};

using rpc_message = std::variant<rpc_request, rpc_notification, rpc_response>;

// Why a text is no message: what is answered to whoever sent it. `id` is that of the request when it could be read, else
// null; `from_response` is set when it looks like a response, which is never answered.
struct rpc_fault {
  rpc_error error{};
  nlohmann::json id{};
  bool from_response = false;
};

[[nodiscard]] std::variant<rpc_message, rpc_fault> parse_rpc(std::string_view text,
                                                             const json_limits& limits = {});
// The same for JSON that has been read already.
[[nodiscard]] std::variant<rpc_message, rpc_fault> read_rpc(nlohmann::json message);

// One line of JSON, without the line end.
[[nodiscard]] std::string write_rpc(const rpc_request& request);
[[nodiscard]] std::string write_rpc(const rpc_notification& notification);
[[nodiscard]] std::string write_rpc(const rpc_response& response);

// For errors of peers in our own messages: `"Method not found" (-32601)`; the text is cut.
[[nodiscard]] std::string describe(const rpc_error& error);

} // namespace troupe::net
