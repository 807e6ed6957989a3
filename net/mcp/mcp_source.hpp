// Tools of MCP servers (Model Context Protocol), over the pipes of a program or over streamable HTTP; docs/mcp.md.
//
// Both revisions are spoken: 2026-07-28, and those with a session up to 2025-11-25. Nothing is started before the source
// is opened. A server that ends is started again with the next call or open(), after a growing pause; calls that were
// under way fail with connection_lost. What a server writes is untrusted and bounded by `limits`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/mcp/mcp_limits.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/ports/timer.hpp>
#include <troupe/runtime/ports/tool_source.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe::net {

class http_client;
class io_pool;

struct mcp_source_options {
  std::string version = "0";         // of the program, for the server
  std::filesystem::path workspace{}; // told to servers as their root, and where they run; empty: neither
  mcp_limits limits{};
  log_sink log{};
  std::function<std::optional<std::string>(const std::string&)>
      variable{};         // of the environment; empty: none is set
  timer* clock = nullptr; // for deadlines; null: the pool's
};

// Fails with bad_config when the spec cannot be used. The pool and the clock outlive the source; `http` may be null for
// servers with a command.
[[nodiscard]] result<std::shared_ptr<tool_source>> make_mcp_source(io_pool& pool,
                                                                   std::shared_ptr<http_client> http,
                                                                   mcp_server_spec spec,
                                                                   const mcp_source_options& options);

// `text` with $NAME and ${NAME} replaced; "$$" is a dollar sign. Fails with bad_config when a variable is not set.
[[nodiscard]] result<std::string>
expand_variables(const std::string& text,
                 const std::function<std::optional<std::string>(const std::string&)>& variable);

} // namespace troupe::net
