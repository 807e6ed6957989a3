// One operation of A2A as an HTTP request, and what comes back, for both bindings and versions. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/a2a/internal/card.hpp>
#include <troupe/net/a2a/internal/codec.hpp>
#include <troupe/net/a2a/internal/failure.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net::a2a {

enum class operation : std::uint8_t { send, stream, get, cancel, subscribe };

struct outgoing {
  std::string_view method = "POST";
  std::string target;
  std::string body; // empty: none
  std::vector<std::pair<std::string, std::string>> headers;
};

struct operation_arguments {
  const a2a::message* message = nullptr; // of send and stream
  std::string task{};                    // of the others
  std::string request_id{};              // of JSON-RPC
};

// `base` is the target of the interface's URL.
[[nodiscard]] outgoing make_request(const card_interface& at, const std::string& base, operation what,
                                    const operation_arguments& arguments);

struct incoming {
  std::optional<stream_item> item{}; // absent with no problem: of a kind that is passed over
  std::optional<fault> problem{};
};

// An answer with status 200, or one event of a stream. Fails with model_bad_response when it is no JSON, or the answer to
// another request.
[[nodiscard]] result<incoming> read_reply(const card_interface& at, std::string_view text,
                                          const std::string& request_id);

[[nodiscard]] dialect dialect_of(const card_interface& at) noexcept;
// The name of the operation in JSON-RPC.
[[nodiscard]] std::string_view method_name(operation what, protocol version) noexcept;

} // namespace troupe::net::a2a
