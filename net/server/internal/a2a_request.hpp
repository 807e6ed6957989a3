// What an A2A client asks of the server, read out of either binding in either version, and how errors are told. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/net/a2a/internal/codec.hpp>
#include <troupe/net/a2a/internal/failure.hpp>
#include <troupe/net/server/internal/request_target.hpp>
#include <troupe/net/server/web_message.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace troupe::net {

enum class a2a_operation : std::uint8_t {
  send,
  stream,
  get_task,
  list_tasks,
  cancel,
  subscribe,
  push_notifications,
  extended_card
};

struct a2a_list_query {
  std::string context{};
  std::optional<a2a::task_state> state{};
  std::optional<timestamp> after{}; // of the status
  std::size_t page_size = 50;
  std::optional<std::uint64_t> before{}; // of the last page
  bool artifacts = false;
};

// How the answer is written.
struct a2a_form {
  a2a::dialect dialect = a2a::dialect::v1;
  bool is_rpc = true;
  nlohmann::json id{}; // of JSON-RPC
};

struct a2a_request {
  a2a_operation what = a2a_operation::send;
  a2a::message message{};
  bool at_once = false; // do not wait for the end
  std::optional<std::size_t> history{};
  std::uint32_t hops = 0;
  std::string task{};
  a2a_list_query list{};
};

struct a2a_refusal {
  a2a::peer_code code = a2a::peer_code::invalid_params;
  std::string message{};
};

struct a2a_limits {
  static constexpr std::size_t max_depth = 64;
  static constexpr std::size_t max_page = 100;
  static constexpr std::size_t max_parts = 256;
};

// A time as RFC 3339 has it: "2026-11-30T19:00:00.5Z", "…+02:00". Absent when it is none.
[[nodiscard]] std::optional<timestamp> read_a2a_timestamp(std::string_view text);

// The answer to a request of JSON-RPC; `version` is the header A2A-Version, empty without one. The form is set as far as
// it is known, for refusals too.
[[nodiscard]] std::variant<a2a_request, a2a_refusal> read_a2a_rpc(std::string_view body,
                                                                  std::string_view version, a2a_form& form);

// The same over HTTP: `action` is what stands after /v1/, "message:send" or "tasks/<id>:cancel".
[[nodiscard]] std::variant<a2a_request, a2a_refusal> read_a2a_http(web_method method, std::string_view action,
                                                                   const request_target& target,
                                                                   std::string_view body,
                                                                   std::string_view version, a2a_form& form);

[[nodiscard]] web_answer a2a_answer(const a2a_form& form, nlohmann::json result);
[[nodiscard]] web_answer a2a_answer(const a2a_form& form, const a2a_refusal& refusal);
// One event of a stream, as one line of JSON.
[[nodiscard]] std::string a2a_event(const a2a_form& form, const a2a::stream_item& item);

} // namespace troupe::net
