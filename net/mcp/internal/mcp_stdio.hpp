// MCP over the pipes of a program: one message a line.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/child_process.hpp>
#include <troupe/net/mcp/internal/mcp_transport.hpp>
#include <troupe/net/mcp/mcp_limits.hpp>
#include <troupe/runtime/log.hpp>

#include <memory>
#include <string>

namespace troupe::net {

struct mcp_stdio_options {
  std::string server; // its name here, for messages
  process_spec process{};
  mcp_limits limits{};
  log_sink log{}; // gets the lines of its stderr, at most max_log_lines
};

// The program starts with the transport. When it ends, writes a line that is too long, or does not read its input, the
// connection is lost. The pool outlives the transport.
[[nodiscard]] std::unique_ptr<mcp_transport> make_mcp_stdio(io_pool& pool, mcp_stdio_options options);

} // namespace troupe::net
