// The server of another process, as a program calls it. docs/server.md says what it answers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace troupe {

// Each call waits for its answer, at most `limit`. Thread-safe.
class remote_server {
 public:
  // Throws config_error when the URL or the token cannot be used. An empty token sends none.
  explicit remote_server(const std::string& url, const std::string& token = {},
                         std::chrono::milliseconds limit = std::chrono::seconds{30});
  ~remote_server();
  remote_server(const remote_server&) = delete;
  remote_server& operator=(const remote_server&) = delete;

  // `target` is path and query, percent-encoded. Fails with the server's own error where it says one, and with
  // connection_failed and the like where there is no answer.
  [[nodiscard]] result<nlohmann::json> get(const std::string& target);
  [[nodiscard]] result<nlohmann::json> post(const std::string& target, const nlohmann::json& body);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

} // namespace troupe
