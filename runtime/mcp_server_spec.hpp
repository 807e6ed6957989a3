// An MCP server that tools come from, as somebody declares it: plain values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace troupe {

// Either a command, which is started and spoken to through its stdin and stdout, or a URL (streamable HTTP). Values of
// `env` and `headers` may hold $NAME or ${NAME}, which stand for variables of the environment, so that no secret has to
// stand in a file.
struct mcp_server_spec {
  std::string name{}; // tools are named mcp_<name>_<tool>
  std::string command{};
  std::vector<std::string> args{};
  std::map<std::string, std::string> env{}; // besides what every server gets, see docs/mcp.md
  std::string cwd{};                        // empty: the workspace
  std::string url{};
  std::map<std::string, std::string> headers{};
  std::chrono::milliseconds startup_timeout = std::chrono::seconds{30}; // until the tools are known
  std::chrono::milliseconds timeout = std::chrono::minutes{2};          // of a call without a sign of life
  std::chrono::milliseconds max_call_time = std::chrono::minutes{10};   // of a call in all
  std::vector<std::string> include_tools{}; // the server's names for tools; empty: all
  std::vector<std::string> exclude_tools{};
  bool trust = false;        // its word on which tools only read, or may run twice, is believed
  std::string description{}; // for people

  friend bool operator==(const mcp_server_spec&, const mcp_server_spec&) = default;
};

} // namespace troupe
