// The HTTP server of a runtime: runs and sessions for other programs, and the page that shows them. docs/server.md is its
// contract.
//
//   troupe::server srv{rt, {.listen = "127.0.0.1:8787", .agents = {analyst}}};
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/runtime.hpp>
#include <troupe/runtime/server_limits.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

struct server_options {
  std::string listen = "127.0.0.1:8787"; // port 0: any free one
  // What callers must know; one line of a file, at least 16 characters. Without one only this machine can call, and the
  // address must be a loopback one.
  std::string token{};
  std::filesystem::path token_file{};
  std::vector<std::string> allow_hosts{}; // names that the server is called by, besides its address
  std::vector<agent> agents{};            // that runs can be started with; the first is the default
  on_busy busy = on_busy::wait;
  on_background_result background = on_background_result::wake;
  std::chrono::milliseconds question_timeout = std::chrono::hours{24 * 7};
  bool a2a = false;                      // agents of other programs may call them; docs/remote-agents.md
  std::vector<std::string> a2a_agents{}; // which; empty: all of `agents`
  std::string public_url{};   // that others reach the server by, for agent cards; empty: as they call it
  std::uint32_t max_hops = 4; // from agent to agent, of a request that comes over A2A
  bool take_over = false;     // sessions that another process has open
  std::filesystem::path web_root{};       // folder of a page; empty: the dashboard
  std::function<std::string()> metrics{}; // text for GET /metrics; empty: that of the runtime. Thread-safe
  std::string version{};                  // for /openapi.json
  std::size_t threads = 1;                // for its connections
  server_limits limits{};
};

// Listens from its construction on. Thread-safe. It keeps what it needs of the runtime; once the runtime has ended it
// answers that.
class server {
 public:
  // Throws config_error when it cannot listen, when the options are not safe, or when a file cannot be used.
  server(runtime& rt, server_options options);
  // stop().
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  // "http://127.0.0.1:8787/".
  [[nodiscard]] std::string url() const;

  // Takes no new runs from now on.
  void drain();
  // Waits until no run that was started here goes on; false when that takes longer.
  [[nodiscard]] bool wait_quiet(std::chrono::milliseconds limit);
  // Ends: what is being answered comes to its end, at most `limit`, and streams are told goodbye. Runs go on.
  void stop(std::chrono::milliseconds limit = std::chrono::seconds{2});

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

} // namespace troupe
