// Agents for editors: the Agent Client Protocol (ACP), version 1, over lines of JSON such as those of standard input and output.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/runtime.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace troupe {

// Where the sessions of one folder run. The server holds the runtime until it ends.
struct editor_place {
  std::shared_ptr<troupe::runtime> runtime{};
  agent root;
};

// Makes the place for an absolute path; `mcp_servers` are those that the editor wants its agents to have. May block;
// config_error says why there is none.
using editor_places =
    std::function<editor_place(const std::string& folder, const std::vector<mcp_server_spec>& mcp_servers)>;

// Thread-safe. `send` is called on a thread of the server, one line at a time, without its end.
class editor_server {
 public:
  editor_server(editor_places places, std::function<void(std::string line)> send, std::string version = {});
  // Cancels what runs.
  ~editor_server();
  editor_server(const editor_server&) = delete;
  editor_server& operator=(const editor_server&) = delete;

  // A line from the editor. Returns at once.
  void take(std::string line);

  // Waits until what was taken so far has been looked at; false when that takes longer.
  bool settle(std::chrono::milliseconds limit);

 private:
  class state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
