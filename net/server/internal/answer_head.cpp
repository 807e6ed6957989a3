// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/answer_head.hpp>
#include <troupe/net/server/internal/web_problem.hpp>

#include <algorithm>

namespace troupe::net {
namespace {

void add(std::string& out, std::string_view name, std::string_view value) {
  const bool breaks =
      std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!breaks)
    out.append(name).append(": ").append(value).append("\r\n");
}

std::string begin_head(unsigned status, const answer_form& form) {
  std::string out = form.http_1_0 ? "HTTP/1.0 " : "HTTP/1.1 ";
  out.append(std::to_string(status)).append(" ").append(reason_phrase(status)).append("\r\n");
  add(out, "X-Content-Type-Options", "nosniff");
  add(out, "Referrer-Policy", "no-referrer");
  add(out, "Content-Security-Policy",
      "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
  add(out, "Connection", form.keep_alive ? "keep-alive" : "close");
  return out;
}

} // namespace

std::string answer_head(const web_answer& answer, const answer_form& form) {
  auto out = begin_head(answer.status, form);
  add(out, "Cache-Control",
      answer.immutable    ? "public, max-age=31536000, immutable"
      : answer.revalidate ? "no-cache"
                          : "no-store");
  if (answer.status != 304) {
    add(out, "Content-Type", answer.content_type);
    add(out, "Content-Length", std::to_string(answer.body.size()));
  }
  for (const auto& [name, value] : answer.headers)
    add(out, name, value);
  out += "\r\n";
  return out;
}

std::string stream_head(const answer_form& form) {
  auto out = begin_head(200, form);
  add(out, "Cache-Control", "no-store");
  add(out, "Content-Type", "text/event-stream; charset=utf-8");
  if (!form.http_1_0)
    add(out, "Transfer-Encoding", "chunked");
  out += "\r\n";
  return out;
}

} // namespace troupe::net
