// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/codec.hpp>
#include <troupe/net/a2a/internal/failure.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <array>
#include <utility>

namespace troupe::net::a2a {
namespace {

constexpr std::size_t max_quote = 2000;

struct code_row {
  peer_code code;
  errc meaning;
  bool again;
  std::string_view reason; // of google.rpc.ErrorInfo
};

constexpr std::array rows = {
    code_row{peer_code::parse_error, errc::model_bad_request, false, "PARSE_ERROR"},
    code_row{peer_code::invalid_request, errc::model_bad_request, false, "INVALID_REQUEST"},
    code_row{peer_code::method_not_found, errc::protocol, false, "METHOD_NOT_FOUND"},
    code_row{peer_code::invalid_params, errc::model_bad_request, false, "INVALID_PARAMS"},
    code_row{peer_code::internal_error, errc::model_unavailable, true, "INTERNAL_ERROR"},
    code_row{peer_code::task_not_found, errc::not_found, false, "TASK_NOT_FOUND"},
    code_row{peer_code::task_not_cancelable, errc::model_bad_request, false, "TASK_NOT_CANCELABLE"},
    code_row{peer_code::push_not_supported, errc::model_bad_request, false,
             "PUSH_NOTIFICATION_NOT_SUPPORTED"},
    code_row{peer_code::unsupported_operation, errc::model_bad_request, false, "UNSUPPORTED_OPERATION"},
    code_row{peer_code::content_type_not_supported, errc::model_bad_request, false,
             "CONTENT_TYPE_NOT_SUPPORTED"},
    code_row{peer_code::invalid_agent_response, errc::model_bad_response, false, "INVALID_AGENT_RESPONSE"},
    code_row{peer_code::extension_required, errc::protocol, false, "EXTENSION_SUPPORT_REQUIRED"},
    code_row{peer_code::version_not_supported, errc::protocol, false, "VERSION_NOT_SUPPORTED"},
};

const code_row* find(std::int32_t code) {
  for (const auto& row : rows)
    if (static_cast<std::int32_t>(row.code) == code)
      return &row;
  return nullptr;
}

std::pair<errc, bool> of_transport(http_error_kind kind) {
  switch (kind) {
  case http_error_kind::resolve:
  case http_error_kind::connect:
  case http_error_kind::connect_timeout:
  case http_error_kind::proxy:
  case http_error_kind::busy:
  case http_error_kind::dropped:
  case http_error_kind::first_byte_timeout:
  case http_error_kind::idle_timeout:
    return {to_errc(kind), true};
  case http_error_kind::bad_response:
    return {errc::model_bad_response, false};
  default:
    return {to_errc(kind), false};
  }
}

std::pair<errc, bool> of_status(int status) {
  if (status == 401 || status == 402 || status == 403)
    return {errc::model_auth, false};
  if (status == 404)
    return {errc::not_found, false};
  if (status == 429)
    return {errc::model_rate_limited, true};
  if (status == 408 || status >= 500)
    return {errc::model_unavailable, true};
  if (status >= 400)
    return {errc::model_bad_request, false};
  return {errc::model_bad_response, false};
}

std::string_view doing(activity during) {
  switch (during) {
  case activity::card:
    return "its agent card could not be read";
  case activity::send:
    return "the message could not be sent";
  case activity::stream:
    break;
  }
  return "its answer could not be read to the end";
}

std::string_view advice(errc code, activity during) {
  if (code == errc::model_auth)
    return " Check `auth` in its definition.";
  if (code == errc::connection_failed)
    return " Check its URL, and that it runs.";
  if (code == errc::not_found && during == activity::card)
    return " Check agent_card_url: it is asked for exactly as it is written.";
  return {};
}

// The first reason of ErrorInfo among details that stands for a code.
std::optional<std::int32_t> code_of_details(const nlohmann::json* details) {
  if (details == nullptr || !details->is_array())
    return std::nullopt;
  for (const auto& detail : *details) {
    const auto reason = text_member(detail, "reason");
    for (const auto& row : rows)
      if (!reason.empty() && row.reason == reason)
        return static_cast<std::int32_t>(row.code);
  }
  return std::nullopt;
}

} // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : valid_utf8(text)) {
    const bool blank = static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (line.ends_with(' '))
    line.pop_back();
  return line;
}

std::string peer_text(std::string_view text) {
  auto line = sanitize_text(one_line(utf8_prefix(text, max_quote)));
  return text.size() > max_quote ? line + "…" : line;
}

model_error classify(const std::string& agent, const std::string& url, const fault& f, bool accepted) {
  std::pair<errc, bool> meaning{errc::model_bad_response, false};
  std::string what;
  if (f.transport) {
    meaning = of_transport(f.transport->kind);
    what = f.transport->message;
  } else {
    const auto* row = f.code ? find(*f.code) : nullptr;
    if (f.status == 401 || f.status == 403 || row == nullptr)
      meaning = of_status(f.status);
    if (row != nullptr && f.status != 401 && f.status != 403)
      meaning = {row->meaning, row->again};
    else if (f.code && f.status <= 200)
      meaning = {errc::model_unavailable, false};
    if (f.status != 0 && f.status != 200)
      what = "it answered " + std::to_string(f.status);
    if (f.status >= 300 && f.status < 400)
      what += " (a redirect, which is not followed)";
    if (f.code)
      what += (what.empty() ? "it answered with error " : ", error ") + std::to_string(*f.code);
    if (!f.said.empty())
      what += (what.empty() ? "" : ": ") + peer_text(f.said);
  }
  std::string text = "The remote agent '" + agent + "' at " + url + ": " + std::string{doing(f.during)};
  text += what.empty() ? "." : ": " + what;
  if (!text.ends_with('.'))
    text += '.';
  if (meaning.first == errc::model_auth && !f.wants.empty())
    text += " It asks for " + peer_text(f.wants) + ".";
  text += advice(meaning.first, f.during);
  return {meaning.first, std::move(text), meaning.second && !accepted, {}};
}

bool read_error(const nlohmann::json& body, fault& out) {
  const auto* e = member(body, "error");
  if (e != nullptr && e->is_string()) {
    out.said = e->get<std::string>();
    return true;
  }
  if (e == nullptr)
    e = body.is_object() && body.contains("code") && body.contains("message") ? &body : nullptr;
  if (e == nullptr || !e->is_object())
    return false;
  out.said = text_member(*e, "message");
  const auto* code = member(*e, "code");
  const auto* details = member(*e, "details");
  if (auto named = code_of_details(details != nullptr ? details : member(*e, "data")))
    out.code = *named;
  else if (code != nullptr && code->is_number_integer() && code->get<std::int64_t>() < 0 &&
           code->get<std::int64_t>() >= -99'999)
    out.code = code->get<std::int32_t>();
  return true;
}

model_error ended_badly(const std::string& agent, std::string_view state, errc code, std::string_view said,
                        std::string_view partial) {
  std::string text = "The remote agent '" + agent + "' ended the task as " + std::string{state};
  text += said.empty() ? "." : ": " + peer_text(said);
  if (!text.ends_with('.'))
    text += '.';
  if (!partial.empty() && partial != said)
    text += " Until then it had said: " + peer_text(partial);
  return {code, std::move(text), false, {}};
}

} // namespace troupe::net::a2a
