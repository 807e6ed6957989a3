// MCP over streamable HTTP: a POST for each message, whose answer is JSON or a stream of events.
//
// In the older revisions the server may give a session, which goes with each request and is deleted at the end, and the
// server's own messages come on a stream that is asked for with GET and asked for again when it ends. An answer that
// breaks off is not taken up again: its request fails.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>
#include <troupe/net/mcp/internal/mcp_transport.hpp>
#include <troupe/net/mcp/mcp_limits.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

struct mcp_http_options {
  std::string server; // its name here, for messages
  std::shared_ptr<const http_origin> origin{};
  std::string target{};                                       // path and query
  std::vector<std::pair<std::string, std::string>> headers{}; // with each request
  mcp_limits limits{};
  std::chrono::milliseconds longest{std::chrono::hours{24}}; // an answer, or a stream between two reads
  std::chrono::milliseconds listen_again{1'000}; // after the stream of the server's messages has ended
};

[[nodiscard]] std::unique_ptr<mcp_transport> make_mcp_http(std::shared_ptr<http_client> client, timer& clock,
                                                           mcp_http_options options);

// What an answer that is not taken means for its request. `body` is its beginning. Pure.
[[nodiscard]] error mcp_http_failure(std::string_view server, int status, std::string_view body);

} // namespace troupe::net
