// What strangers send to the server: targets, names, cookies, what they want to follow.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/access_guard.hpp>
#include <troupe/net/server/internal/login_table.hpp>
#include <troupe/net/server/internal/request_target.hpp>
#include <troupe/net/server/internal/router.hpp>
#include <troupe/net/server/internal/static_answer.hpp>
#include <troupe/net/server/internal/stream_follow.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void check_target(std::string_view text) {
  const auto target = troupe::net::parse_request_target(text);
  if (!target)
    return;
  for (const auto& segment : target->segments) {
    if (segment == "." || segment == ".." || segment.find('\\') != std::string::npos)
      std::abort();
    for (const char c : segment)
      if (static_cast<unsigned char>(c) < 0x20)
        std::abort();
  }
  if (target->file_path().find("/../") != std::string::npos)
    std::abort();
  const troupe::net::router routes{{{troupe::net::web_method::get, "/v1/runs/{id}"},
                                    {troupe::net::web_method::post, "/v1/runs/{id}/steer"}}};
  const auto match = routes.find(troupe::net::web_method::get, *target);
  if (match.what == troupe::net::route_match::kind::found && match.parameters.size() != 1)
    std::abort();
  static_cast<void>(troupe::net::access_guard::refuse_query(*target));
  static_cast<void>(troupe::net::follow_of_query(*target, text));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check_target(text);
  const auto name = troupe::net::host_name(text);
  for (const char c : name)
    if (c == '/' || c == '@' || c == ' ')
      std::abort();
  static_cast<void>(troupe::net::cookie_value(text, troupe::net::login_cookie));
  static_cast<void>(troupe::net::accepts_gzip(text));
  static_cast<void>(troupe::net::etag_matches(text, "abc"));
  const auto follow = troupe::net::follow_of_message(text);
  if (follow && follow->agent && !follow->session)
    std::abort();
  return 0;
}
