// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>

namespace troupe::net {

unsigned http_status(errc code) noexcept {
  switch (code) {
  case errc::bad_config:
  case errc::bad_definition:
  case errc::bad_arguments:
  case errc::bad_json:
  case errc::bad_schema:
  case errc::bad_encoding:
    return 400;
  case errc::not_allowed:
  case errc::denied:
    return 403;
  case errc::unknown_tool:
  case errc::unknown_agent:
  case errc::unknown_model:
  case errc::unknown_skill:
  case errc::not_found:
    return 404;
  case errc::busy:
  case errc::name_clash:
  case errc::needs_input:
  case errc::fenced:
  case errc::interrupted: // it has to be resumed first
  case errc::cancelled:
    return 409;
  case errc::too_large:
    return 413;
  case errc::shutting_down:
  case errc::timeout:
  case errc::stuck:
    return 503;
  default:
    return 500;
  }
}

std::string_view reason_phrase(unsigned status) noexcept {
  struct row {
    unsigned status;
    std::string_view phrase;
  };
  static constexpr row rows[] = {{200, "OK"},
                                 {201, "Created"},
                                 {202, "Accepted"},
                                 {204, "No Content"},
                                 {304, "Not Modified"},
                                 {400, "Bad Request"},
                                 {401, "Unauthorized"},
                                 {403, "Forbidden"},
                                 {404, "Not Found"},
                                 {405, "Method Not Allowed"},
                                 {408, "Request Timeout"},
                                 {409, "Conflict"},
                                 {413, "Content Too Large"},
                                 {415, "Unsupported Media Type"},
                                 {421, "Misdirected Request"},
                                 {426, "Upgrade Required"},
                                 {429, "Too Many Requests"},
                                 {431, "Request Header Fields Too Large"},
                                 {500, "Internal Server Error"},
                                 {503, "Service Unavailable"}};
  for (const auto& r : rows)
    if (r.status == status)
      return r.phrase;
  return "Unknown";
}

web_problem to_problem(const error& e) {
  return {http_status(e.code), std::string{to_string(e.code)},
          e.message.empty() ? std::string{describe(e.code)} : e.message};
}

web_answer to_answer(web_problem problem) {
  web_answer answer;
  answer.status = problem.status;
  answer.headers = std::move(problem.headers);
  answer.body = dump_json(
      {{"error", {{"code", problem.code}, {"message", sanitize_text(utf8_prefix(problem.message, 4096))}}}});
  return answer;
}

} // namespace troupe::net
