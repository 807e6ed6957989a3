// What strangers ask of the server over A2A, in either binding.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/a2a_request.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace troupe::net;

void check(const std::variant<a2a_request, a2a_refusal>& read, const a2a_form& form) {
  if (const auto* refused = std::get_if<a2a_refusal>(&read)) {
    const auto answer = a2a_answer(form, *refused);
    if (refused->message.empty() || nlohmann::json::parse(answer.body, nullptr, false).is_discarded())
      std::abort();
    return;
  }
  const auto& request = std::get<a2a_request>(read);
  const bool sends = request.what == a2a_operation::send || request.what == a2a_operation::stream;
  if (sends && (request.message.id.empty() || request.message.parts.empty()))
    std::abort();
  if (request.list.page_size > a2a_limits::max_page)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  a2a_form form;
  auto rpc = read_a2a_rpc(text, {}, form);
  check(rpc, form);
  // The first line is the target after /v1/, the rest the body.
  const auto end = text.find('\n');
  const auto target = parse_request_target("/" + std::string{text.substr(0, end)});
  if (!target)
    return 0;
  std::string action;
  for (const auto& segment : target->segments)
    action += (action.empty() ? "" : "/") + segment;
  const auto body = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  for (const auto method : {web_method::get, web_method::post})
    for (const std::string_view version : {"", "0.3", "1.0", "2.0"}) {
      auto http = read_a2a_http(method, action, *target, body, version, form);
      check(http, form);
    }
  return 0;
}
