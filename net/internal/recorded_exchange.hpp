// What a recording keeps of an exchange, and its form as a file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_message.hpp>

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <string_view>

namespace troupe::net {

using secret_values = std::set<std::string>;

struct recorded_request {
  std::string method{};
  std::string path{};    // with the query, without secret parameters
  nlohmann::json body{}; // a string where it is no JSON

  // Equal for requests that get the same answers.
  [[nodiscard]] std::string key() const { return method + " " + path + "\n" + body.dump(); }
};

struct recorded_exchange {
  recorded_request request{};
  int status = 0;
  std::string content_type{};
  std::string body{};
  bool complete = true;
};

// Adds the values of the secrets that `request` carries in its headers and path.
void collect_secrets(const http_request& request, secret_values& out);

[[nodiscard]] recorded_request read_request(const http_request& request, const secret_values& secrets);

// `text` with "[key]" where a secret stands, as it is or as in a JSON string.
[[nodiscard]] std::string without_secrets(std::string text, const secret_values& secrets);

[[nodiscard]] std::string to_file_text(const recorded_exchange& exchange);
// Fails with bad_json and says what is missing or wrong.
[[nodiscard]] result<recorded_exchange> from_file_text(std::string_view text);

// "000001.json"; the number in such a name, or 0.
[[nodiscard]] std::string recording_name(std::size_t number);
[[nodiscard]] std::size_t recording_number(std::string_view name) noexcept;

} // namespace troupe::net
