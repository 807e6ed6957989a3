// The server: an HTTP API for runs and sessions, streams of what happens, and the page. docs/server.md is its contract.
//
// Ownership: the engine outlives the server. The server has threads of its own, so that what it writes holds no model call
// up. Thread-safe, but for the constructor and the destructor, which stops it. The destructor is not called on a thread of
// the server.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/server/web_message.hpp>
#include <troupe/runtime/agent_profile.hpp>
#include <troupe/runtime/ports/engine.hpp>
#include <troupe/runtime/server_limits.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::net {

// A root agent that runs can be started with.
struct served_agent {
  agent_profile_ptr profile; // never null
  run_limits limits{};
};

// How the server's agents are offered to agents of other programs, over A2A.
struct a2a_server_options {
  std::vector<std::string> agents{}; // names of those that are; empty: all
  // What others reach the server by, "https://agents.example.com"; empty: what a request calls it.
  std::string public_url{};
  std::uint32_t max_hops = 4; // from agent to agent; a request that has come further is refused
};

struct http_server_options {
  std::string listen = "127.0.0.1:8787";  // port 0: any free one
  std::string token{};                    // empty: none is needed, which only loopback addresses allow
  std::vector<std::string> allow_hosts{}; // names that the server is called by, besides its addresses
  std::vector<served_agent> agents{};     // the first is the one that a request without `agent` means
  on_busy busy = on_busy::wait;
  on_background_result background = on_background_result::wake;
  std::chrono::milliseconds question_timeout = std::chrono::hours{24 * 7};
  bool take_over = false;                                       // sessions that another process has open
  static_files files{};                                         // empty: no page
  std::function<std::string()> metrics{};                       // Prometheus text; empty: none. Thread-safe
  std::function<std::map<std::string, std::string>()> models{}; // id → description. Thread-safe
  std::optional<a2a_server_options> a2a{};                      // absent: not at all
  std::string version{};
  std::size_t threads = 1;        // for the network
  std::size_t reader_threads = 2; // for what blocks in the store
  server_limits limits{};
};

// What there is now, and since the start.
struct http_server_counts {
  std::size_t connections = 0;
  std::size_t streams = 0;
  std::size_t live_runs = 0;
  std::uint64_t requests = 0;
  std::uint64_t messages = 0; // of streams, that were taken
};

class http_server {
 public:
  // A token that is used has at least so many characters.
  static constexpr std::size_t min_token = 16;

  http_server(engine& to, http_server_options options);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  // Listens, and gives the port. Fails with bad_config when the address cannot be had or is not safe: one that others can
  // reach needs a token.
  [[nodiscard]] result<std::uint16_t> start();
  // Takes no new runs from now on; everything else goes on.
  void drain();
  // Waits until no run goes on that was taken here; false when that takes longer.
  [[nodiscard]] bool wait_quiet(std::chrono::milliseconds limit);
  // Takes no more connections, lets what is being answered come to its end, at most `limit`, and closes all. Streams are
  // told goodbye. A second call does nothing.
  void stop(std::chrono::milliseconds limit = std::chrono::seconds{2});

  [[nodiscard]] http_server_counts counts() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

// What GET /openapi.json gives: made from the table of routes.
[[nodiscard]] std::string openapi_text(const std::string& version);

} // namespace troupe::net
