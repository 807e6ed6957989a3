// The MCP servers of a runtime: those that all agents share, and those that single agents start for themselves.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/ports/tool_source.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace troupe {

namespace net {
class http_client;
}

struct mcp_servers_options {
  std::filesystem::path workspace{};
  log_sink log{};
  bool proxy_from_environment = true;
};

// Thread-safe. The pool outlives it. Sources that were made here may outlive it, closed.
class mcp_servers {
 public:
  mcp_servers(net::io_pool& pool, mcp_servers_options options);
  ~mcp_servers();
  mcp_servers(const mcp_servers&) = delete;
  mcp_servers& operator=(const mcp_servers&) = delete;

  // A source that has not been started. Fails with bad_config.
  [[nodiscard]] result<std::shared_ptr<tool_source>> make(const mcp_server_spec& spec);
  // Makes a source of its own with each call; one that is closed, once this is. Fails with bad_config.
  [[nodiscard]] result<std::function<std::shared_ptr<tool_source>()>> maker(const mcp_server_spec& spec);

  // Ends all sources; who still holds one finds it closed.
  void close();
  // How many sources have not been dropped by their holders.
  [[nodiscard]] std::size_t held() const;

 private:
  class closing_source;
  class maker_state;
  const std::shared_ptr<maker_state> state_;
};

} // namespace troupe
