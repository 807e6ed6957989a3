// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/a2a_request.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace troupe::net {

using a2a::dialect;
using a2a::member;
using a2a::peer_code;
using a2a::text_member;
using nlohmann::json;

namespace {

struct method_row {
  std::string_view v1;
  std::string_view v03;
  a2a_operation what;
};

constexpr std::array methods = {
    method_row{"SendMessage", "message/send", a2a_operation::send},
    method_row{"SendStreamingMessage", "message/stream", a2a_operation::stream},
    method_row{"GetTask", "tasks/get", a2a_operation::get_task},
    method_row{"ListTasks", "tasks/list", a2a_operation::list_tasks},
    method_row{"CancelTask", "tasks/cancel", a2a_operation::cancel},
    method_row{"SubscribeToTask", "tasks/resubscribe", a2a_operation::subscribe},
    method_row{"CreateTaskPushNotificationConfig", "tasks/pushNotificationConfig/set",
               a2a_operation::push_notifications},
    method_row{"GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/get",
               a2a_operation::push_notifications},
    method_row{"ListTaskPushNotificationConfigs", "tasks/pushNotificationConfig/list",
               a2a_operation::push_notifications},
    method_row{"DeleteTaskPushNotificationConfig", "tasks/pushNotificationConfig/delete",
               a2a_operation::push_notifications},
    method_row{"GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard", a2a_operation::extended_card},
};

struct error_row {
  peer_code code;
  unsigned status;
  std::string_view grpc;
  std::string_view reason;
};

constexpr std::array errors = {
    error_row{peer_code::parse_error, 400, "INVALID_ARGUMENT", "PARSE_ERROR"},
    error_row{peer_code::invalid_request, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"},
    error_row{peer_code::method_not_found, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND"},
    error_row{peer_code::invalid_params, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"},
    error_row{peer_code::internal_error, 500, "INTERNAL", "INTERNAL_ERROR"},
    error_row{peer_code::task_not_found, 404, "NOT_FOUND", "TASK_NOT_FOUND"},
    error_row{peer_code::task_not_cancelable, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"},
    error_row{peer_code::push_not_supported, 400, "UNIMPLEMENTED", "PUSH_NOTIFICATION_NOT_SUPPORTED"},
    error_row{peer_code::unsupported_operation, 400, "UNIMPLEMENTED", "UNSUPPORTED_OPERATION"},
    error_row{peer_code::content_type_not_supported, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"},
    error_row{peer_code::extended_card_not_configured, 400, "FAILED_PRECONDITION",
              "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
    error_row{peer_code::version_not_supported, 400, "UNIMPLEMENTED", "VERSION_NOT_SUPPORTED"},
};

const error_row& row_of(peer_code code) {
  const auto found =
      std::find_if(errors.begin(), errors.end(), [code](const auto& r) { return r.code == code; });
  return found == errors.end() ? errors[4] : *found;
}

using read_result = std::variant<a2a_request, a2a_refusal>;

bool is_known_version(std::string_view version) {
  return version.empty() || version == "0.3" || version == "1.0" || version.starts_with("1.0.") ||
         version.starts_with("0.3.");
}

a2a_refusal bad_version(std::string_view version) {
  return {peer_code::version_not_supported,
          "A2A " + std::string{utf8_prefix(version, 20)} + " is not spoken here; 1.0 and 0.3 are."};
}

std::optional<std::uint64_t> number_of(const json* value) {
  if (value == nullptr)
    return std::nullopt;
  if (value->is_number_unsigned())
    return value->get<std::uint64_t>();
  if (!value->is_string())
    return std::nullopt;
  const auto& text = value->get_ref<const std::string&>();
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

std::uint32_t hops_of(const json& metadata) {
  const auto hops = metadata.is_object() && metadata.contains(a2a::hops_extension)
                        ? number_of(&metadata[a2a::hops_extension])
                        : std::nullopt;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(hops.value_or(0), most));
}

std::optional<a2a_refusal> read_history(const json& owner, a2a_request& out) {
  const auto* length = member(owner, "historyLength");
  if (length == nullptr)
    return std::nullopt;
  const auto count = number_of(length);
  if (!count)
    return a2a_refusal{peer_code::invalid_params, "'historyLength' must be a whole number from 0 on."};
  out.history = static_cast<std::size_t>(*count);
  return std::nullopt;
}

std::optional<a2a_refusal> read_send(const json& params, a2a_request& out) {
  const auto* said = member(params, "message");
  if (said == nullptr)
    said = member(params, "request"); // 0.3 over HTTP
  if (said == nullptr)
    return a2a_refusal{peer_code::invalid_params, "'message' is missing: what the agent is told."};
  auto message = a2a::read_message(*said);
  if (!message)
    return a2a_refusal{peer_code::invalid_params, message.failure().message};
  if (message->id.empty())
    return a2a_refusal{peer_code::invalid_params, "'message.messageId' is missing."};
  if (message->from_agent)
    return a2a_refusal{peer_code::invalid_params, "'message.role' must be that of the user."};
  if (message->parts.size() > a2a_limits::max_parts)
    return a2a_refusal{peer_code::invalid_params, "'message.parts' has too many entries."};
  out.message = std::move(*message);
  out.hops = std::max(hops_of(out.message.metadata), hops_of(params.value("metadata", json{})));
  const auto* how = member(params, "configuration");
  if (how == nullptr)
    return std::nullopt;
  const auto* at_once = member(*how, "returnImmediately");
  const auto* blocking = member(*how, "blocking");
  out.at_once = (at_once != nullptr && at_once->is_boolean() && at_once->get<bool>()) ||
                (blocking != nullptr && blocking->is_boolean() && !blocking->get<bool>());
  const auto* push = member(*how, "taskPushNotificationConfig");
  if (push == nullptr)
    push = member(*how, "pushNotificationConfig");
  if (push != nullptr && push->is_object() && !push->empty())
    return a2a_refusal{peer_code::push_not_supported, "There are no push notifications here."};
  return read_history(*how, out);
}

std::optional<a2a_refusal> read_list(const json& params, a2a_list_query& out) {
  out.context = text_member(params, "contextId");
  if (const auto name = text_member(params, "status"); !name.empty()) {
    const auto state = a2a::state_from_name(name);
    if (state == a2a::task_state::unknown && name.find("UNSPECIFIED") == std::string::npos)
      return a2a_refusal{peer_code::invalid_params, "'status' must be the name of a state of tasks."};
    if (state != a2a::task_state::unknown)
      out.state = state;
  }
  if (const auto* after = member(params, "statusTimestampAfter"); after != nullptr && !after->is_null()) {
    out.after = after->is_string() ? read_a2a_timestamp(after->get_ref<const std::string&>()) : std::nullopt;
    if (!out.after)
      return a2a_refusal{peer_code::invalid_params,
                         "'statusTimestampAfter' must be a time such as 2026-11-30T19:00:00.000Z."};
  }
  if (const auto* size = member(params, "pageSize")) {
    const auto count = number_of(size);
    if (!count || *count < 1 || *count > a2a_limits::max_page)
      return a2a_refusal{peer_code::invalid_params,
                         "'pageSize' must be between 1 and " + std::to_string(a2a_limits::max_page) + "."};
    out.page_size = static_cast<std::size_t>(*count);
  }
  const auto* token = member(params, "pageToken");
  if (token != nullptr && !(token->is_string() && token->get_ref<const std::string&>().empty())) {
    out.before = number_of(token);
    if (!out.before)
      return a2a_refusal{peer_code::invalid_params, "'pageToken' is none that was given out here."};
  }
  const auto* artifacts = member(params, "includeArtifacts");
  out.artifacts = artifacts != nullptr && (*artifacts == true || *artifacts == "true");
  return std::nullopt;
}

read_result read_params(a2a_operation what, const json& params, a2a_request out) {
  out.what = what;
  std::optional<a2a_refusal> refused;
  switch (what) {
  case a2a_operation::send:
  case a2a_operation::stream:
    refused = read_send(params, out);
    break;
  case a2a_operation::list_tasks:
    refused = read_list(params, out.list);
    if (!refused)
      refused = read_history(params, out);
    break;
  case a2a_operation::get_task:
  case a2a_operation::cancel:
  case a2a_operation::subscribe:
    if (out.task.empty())
      out.task = text_member(params, "id");
    if (out.task.empty())
      refused = a2a_refusal{peer_code::invalid_params, "'id' is missing: which task."};
    else
      refused = read_history(params, out);
    break;
  case a2a_operation::push_notifications:
    refused = a2a_refusal{peer_code::push_not_supported, "There are no push notifications here."};
    break;
  case a2a_operation::extended_card:
    refused = a2a_refusal{peer_code::extended_card_not_configured, "There is no extended agent card here."};
    break;
  }
  if (refused)
    return std::move(*refused);
  return out;
}

// What a target asks for: "message:send", "tasks", "tasks/<id>", "tasks/<id>:cancel", ….
std::optional<std::pair<a2a_operation, std::string>> find_action(web_method method, std::string_view action) {
  const bool is_post = method == web_method::post;
  if (action == "message:send" && is_post)
    return std::pair{a2a_operation::send, std::string{}};
  if (action == "message:stream" && is_post)
    return std::pair{a2a_operation::stream, std::string{}};
  if (action == "card" || action == "extendedAgentCard")
    return std::pair{a2a_operation::extended_card, std::string{}};
  if (action == "tasks" && method == web_method::get)
    return std::pair{a2a_operation::list_tasks, std::string{}};
  constexpr std::string_view tasks = "tasks/";
  if (!action.starts_with(tasks))
    return std::nullopt;
  auto id = action.substr(tasks.size());
  if (id.find("/pushNotificationConfigs") != std::string_view::npos)
    return std::pair{a2a_operation::push_notifications, std::string{}};
  const auto colon = id.rfind(':');
  const auto verb = colon == std::string_view::npos ? std::string_view{} : id.substr(colon + 1);
  const std::string name{id.substr(0, colon)};
  if (name.empty() || name.find('/') != std::string::npos)
    return std::nullopt;
  if (verb.empty() && colon == std::string_view::npos && !is_post)
    return std::pair{a2a_operation::get_task, name};
  if (verb == "cancel" && is_post)
    return std::pair{a2a_operation::cancel, name};
  if (verb == "subscribe")
    return std::pair{a2a_operation::subscribe, name};
  return std::nullopt;
}

json info_of(const error_row& row) {
  return json::array({{{"@type", "type.googleapis.com/google.rpc.ErrorInfo"},
                       {"reason", row.reason},
                       {"domain", "a2a-protocol.org"}}});
}

web_answer json_of(const a2a_form& form, const json& body, unsigned status) {
  web_answer a;
  a.status = status;
  if (!form.is_rpc && form.dialect == dialect::v1)
    a.content_type = "application/a2a+json";
  a.body = dump_json(body);
  return a;
}

} // namespace

std::optional<timestamp> read_a2a_timestamp(std::string_view text) {
  // A number of so many digits, and the sign that follows it.
  const auto number = [&text](std::size_t digits) -> std::optional<int> {
    int value = 0;
    const auto* end = text.data() + std::min(digits, text.size());
    const auto [stop, failed] = std::from_chars(text.data(), end, value);
    if (failed != std::errc{} || stop != text.data() + digits || value < 0)
      return std::nullopt;
    text.remove_prefix(digits);
    return value;
  };
  const auto sign = [&text](std::string_view any) {
    if (text.empty() || any.find(text.front()) == std::string_view::npos)
      return '\0';
    const char found = text.front();
    text.remove_prefix(1);
    return found;
  };
  const auto year = number(4);
  const auto month = sign("-") != 0 ? number(2) : std::nullopt;
  const auto day = sign("-") != 0 ? number(2) : std::nullopt;
  const auto hour = sign("Tt") != 0 ? number(2) : std::nullopt;
  const auto minute = sign(":") != 0 ? number(2) : std::nullopt;
  const auto second = sign(":") != 0 ? number(2) : std::nullopt;
  if (!year || !month || !day || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok())
    return std::nullopt;
  std::chrono::microseconds rest{0};
  if (sign(".") != 0) {
    std::int64_t unit = 100'000;
    if (text.empty() || text.front() < '0' || text.front() > '9')
      return std::nullopt;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), unit /= 10)
      rest += std::chrono::microseconds{unit * (text.front() - '0')};
  }
  std::chrono::minutes offset{0};
  const char zone = sign("Zz+-");
  if (zone == '+' || zone == '-') {
    const auto hours = number(2);
    const auto minutes = sign(":") != 0 ? number(2) : std::nullopt;
    if (!hours || !minutes || *hours > 23 || *minutes > 59)
      return std::nullopt;
    offset = std::chrono::minutes{(zone == '-' ? -1 : 1) * (*hours * 60 + *minutes)};
  }
  if (zone == 0 || !text.empty())
    return std::nullopt;
  return timestamp{std::chrono::sys_days{date} + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
                   std::chrono::seconds{*second} + rest - offset};
}

read_result read_a2a_rpc(std::string_view body, std::string_view version, a2a_form& form) {
  form = {};
  auto parsed = parse_json(body, {a2a_limits::max_depth, std::size_t{64} << 20});
  if (!parsed)
    return a2a_refusal{peer_code::parse_error, parsed.failure().message};
  if (!parsed->is_object())
    return a2a_refusal{peer_code::invalid_request, "A request is one JSON object; there are no batches."};
  const auto id = parsed->find("id");
  if (id != parsed->end() && (id->is_string() || id->is_number_integer()))
    form.id = *id;
  const auto method = parsed->find("method");
  if (parsed->value("jsonrpc", json{}) != "2.0" || method == parsed->end() || !method->is_string() ||
      form.id.is_null())
    return a2a_refusal{peer_code::invalid_request,
                       R"(A request has "jsonrpc": "2.0", an id (a text or a whole number) and a method.)"};
  const auto& name = method->get_ref<const std::string&>();
  const auto* row = std::find_if(methods.begin(), methods.end(),
                                 [&](const method_row& r) { return r.v1 == name || r.v03 == name; });
  if (row != methods.end() && row->v03 == name)
    form.dialect = dialect::v03;
  if (!is_known_version(version))
    return bad_version(version);
  if (row == methods.end())
    return a2a_refusal{peer_code::method_not_found,
                       "There is no method '" + std::string{utf8_prefix(name, 80)} + "' in A2A 1.0 or 0.3."};
  const auto params = parsed->find("params");
  if (params != parsed->end() && !params->is_object())
    return a2a_refusal{peer_code::invalid_params, "'params' must be an object."};
  return read_params(row->what, params == parsed->end() ? json::object() : *params, {});
}

read_result read_a2a_http(web_method method, std::string_view action, const request_target& target,
                          std::string_view body, std::string_view version, a2a_form& form) {
  form = {};
  form.is_rpc = false;
  form.dialect = version.empty() || version.starts_with("0.") ? dialect::v03_rest : dialect::v1;
  if (!is_known_version(version))
    return bad_version(version);
  const auto found = find_action(method, action);
  if (!found)
    return a2a_refusal{peer_code::method_not_found, "There is no such operation in A2A 1.0 or 0.3."};
  json params = json::object();
  for (const auto& [name, value] : target.query)
    params[name] = value;
  if (!body.empty()) {
    auto parsed = parse_json(body, {a2a_limits::max_depth, std::size_t{64} << 20});
    if (!parsed)
      return a2a_refusal{peer_code::parse_error, parsed.failure().message};
    if (!parsed->is_object())
      return a2a_refusal{peer_code::invalid_params, "The body must be a JSON object."};
    params = std::move(*parsed);
  }
  a2a_request out;
  out.task = found->second;
  return read_params(found->first, params, std::move(out));
}

web_answer a2a_answer(const a2a_form& form, json result) {
  if (!form.is_rpc)
    return json_of(form, result, 200);
  return json_of(form, {{"jsonrpc", "2.0"}, {"id", form.id}, {"result", std::move(result)}}, 200);
}

web_answer a2a_answer(const a2a_form& form, const a2a_refusal& refusal) {
  const auto& row = row_of(refusal.code);
  const auto message = sanitize_text(refusal.message);
  const auto code = static_cast<std::int32_t>(refusal.code);
  if (form.is_rpc)
    return json_of(form,
                   {{"jsonrpc", "2.0"},
                    {"id", form.id},
                    {"error", {{"code", code}, {"message", message}, {"data", info_of(row)}}}},
                   200);
  if (form.dialect == dialect::v03_rest)
    return json_of(form, {{"code", code}, {"message", message}, {"data", info_of(row)}}, row.status);
  return json_of(
      form,
      {{"error",
        {{"code", row.status}, {"status", row.grpc}, {"message", message}, {"details", info_of(row)}}}},
      row.status);
}

std::string a2a_event(const a2a_form& form, const a2a::stream_item& item) {
  auto value = a2a::write(item, form.dialect);
  if (!form.is_rpc)
    return dump_json(value);
  return dump_json({{"jsonrpc", "2.0"}, {"id", form.id}, {"result", std::move(value)}});
}

} // namespace troupe::net
