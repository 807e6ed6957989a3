// How a remote agent is told who calls: the `auth` of its definition.
//
// Values are written as `$NAME` (environment), `!command` (its output), `file:PATH` or as they are; `$$` and `!!` begin a
// text with one of those signs. They are looked up when they are needed, off the threads of the network, and never
// logged.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/a2a/internal/card.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net::a2a {

enum class auth_kind : std::uint8_t { none, api_key, http, oauth2 };

struct auth_config {
  auth_kind kind = auth_kind::none;
  std::string header = "X-API-Key"; // of an API key
  std::string scheme{};             // of http: "Bearer", "Basic", or another one with `value`
  std::string key{};
  std::string token{};
  std::string username{};
  std::string password{};
  std::string value{};
  std::string token_url{};
  std::string client_id{};
  std::string client_secret{};
  std::string scopes{}; // with blanks between them
};

// Null and an empty object are no authentication. Fails with bad_config; a kind that is known but not there
// (google-credentials, openIdConnect) is said to be so.
[[nodiscard]] result<auth_config> read_auth(const nlohmann::json& auth);

// What a mismatch of configuration and card is: a sentence of warning, empty when they fit.
[[nodiscard]] std::string auth_mismatch(const auth_config& config, const agent_card& card);

struct secret_limits {
  std::chrono::milliseconds command_time = std::chrono::seconds{60};
  std::size_t max_bytes = 64 * 1024;
};

// The secret that `written` stands for. Blocks: a command may run. Fails with bad_config, and never shows a value.
[[nodiscard]] result<std::string> find_secret(const std::string& written, const secret_limits& limits = {});

// A secret is the output of a command or stands in a file: finding it blocks.
[[nodiscard]] bool blocks(const auth_config& config);

// The header of api_key and http. Blocks like find_secret.
[[nodiscard]] result<std::pair<std::string, std::string>> auth_header(const auth_config& config,
                                                                      const secret_limits& limits = {});

// The body of a request for a token (RFC 6749, 4.4), for the secrets in their places. Blocks like find_secret.
[[nodiscard]] result<std::string> token_request(const auth_config& config, const secret_limits& limits = {});

struct access_token {
  std::string value;
  std::chrono::seconds lifetime{}; // zero: not told
};

[[nodiscard]] result<access_token> read_token_answer(std::string_view body);

} // namespace troupe::net::a2a
