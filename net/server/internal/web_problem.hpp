// What goes wrong with a request: a status, a code and a sentence. The one place that gives errc its HTTP status.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/error.hpp>
#include <troupe/net/server/web_message.hpp>

#include <string>
#include <string_view>

namespace troupe::net {

struct web_problem {
  unsigned status = 500;
  std::string code;
  std::string message;
  std::vector<std::pair<std::string, std::string>> headers{};
};

[[nodiscard]] unsigned http_status(errc code) noexcept;
[[nodiscard]] std::string_view reason_phrase(unsigned status) noexcept;

[[nodiscard]] web_problem to_problem(const error& e);

// {"error": {"code", "message"}}; secrets in the message are masked.
[[nodiscard]] web_answer to_answer(web_problem problem);
[[nodiscard]] inline web_answer to_answer(const error& e) {
  return to_answer(to_problem(e));
}

} // namespace troupe::net
