// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/channel.hpp>
#include <troupe/net/json_rpc.hpp>
#include <troupe/runtime/ascii_text.hpp>
#include <troupe/runtime/json_text.hpp>

#include <array>
#include <cctype>

namespace troupe::net::a2a {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 5> names_v1 = {"SendMessage", "SendStreamingMessage", "GetTask",
                                                      "CancelTask", "SubscribeToTask"};
constexpr std::array<std::string_view, 5> names_v03 = {"message/send", "message/stream", "tasks/get",
                                                       "tasks/cancel", "tasks/resubscribe"};
constexpr json_limits answer_limits{64, std::size_t{16} << 20};

bool is_stream(operation what) {
  return what == operation::stream || what == operation::subscribe;
}

json parameters(const card_interface& at, operation what, const operation_arguments& a) {
  json p = json::object();
  if (a.message != nullptr) {
    p["message"] = write(*a.message, dialect_of(at));
    // A new task is asked for after that: what is not known cannot be cancelled. A known one would be told as it was before.
    if (what == operation::send && a.message->task.empty())
      p["configuration"] =
          at.version == protocol::v03 ? json{{"blocking", false}} : json{{"returnImmediately", true}};
    else if (what == operation::send && at.version == protocol::v03 && at.how == binding::json_rpc)
      p["configuration"] = {{"blocking", true}};
  } else {
    p["id"] = a.task;
  }
  if (!at.tenant.empty() && at.version == protocol::v1)
    p["tenant"] = at.tenant;
  return p;
}

std::string rest_target(const card_interface& at, std::string base, operation what, const std::string& task) {
  while (base.ends_with('/'))
    base.pop_back();
  if (at.version == protocol::v03)
    base += "/v1";
  else if (!at.tenant.empty())
    base += "/" + percent_encoded(at.tenant);
  switch (what) {
  case operation::send:
    return base + "/message:send";
  case operation::stream:
    return base + "/message:stream";
  case operation::get:
    return base + "/tasks/" + percent_encoded(task);
  case operation::cancel:
    return base + "/tasks/" + percent_encoded(task) + ":cancel";
  case operation::subscribe:
    break;
  }
  return base + "/tasks/" + percent_encoded(task) + ":subscribe";
}

} // namespace

dialect dialect_of(const card_interface& at) noexcept {
  if (at.version == protocol::v1)
    return dialect::v1;
  return at.how == binding::http_json ? dialect::v03_rest : dialect::v03;
}

std::string_view method_name(operation what, protocol version) noexcept {
  const auto i = static_cast<std::size_t>(what);
  return version == protocol::v03 ? names_v03[i] : names_v1[i];
}

outgoing make_request(const card_interface& at, const std::string& base, operation what,
                      const operation_arguments& a) {
  outgoing out;
  if (at.how == binding::json_rpc) {
    out.target = base.empty() ? "/" : base;
    out.body = write_rpc(
        rpc_request{a.request_id, std::string{method_name(what, at.version)}, parameters(at, what, a)});
  } else {
    out.target = rest_target(at, base, what, a.task);
    if (what == operation::get)
      out.method = "GET";
    else if (a.message != nullptr)
      out.body = dump_json(parameters(at, what, a));
    else
      out.body = "{}";
  }
  if (!out.body.empty())
    out.headers.emplace_back("Content-Type", "application/json");
  out.headers.emplace_back("Accept", is_stream(what) ? "text/event-stream, application/json;q=0.5"
                                                     : "application/json, application/a2a+json");
  out.headers.emplace_back("A2A-Version", at.version == protocol::v03 ? "0.3" : "1.0");
  return out;
}

result<incoming> read_reply(const card_interface& at, std::string_view text, const std::string& request_id) {
  auto parsed = parse_json(text, answer_limits);
  if (!parsed)
    return error{errc::model_bad_response, "It sent what is no JSON: " + parsed.failure().message};
  incoming out;
  if (at.how == binding::http_json) {
    fault problem;
    if (parsed->is_object() && !parsed->contains("status") && read_error(*parsed, problem)) {
      out.problem = std::move(problem);
      return out;
    }
    out.item = read_item(*parsed);
    return out;
  }
  if (!parsed->is_object() || !(parsed->contains("result") || parsed->contains("error")))
    return error{errc::model_bad_response, "It sent what is no answer of JSON-RPC."};
  const auto* id = member(*parsed, "id");
  const bool ours = id != nullptr && id->is_string() && id->get_ref<const std::string&>() == request_id;
  const bool is_error = parsed->contains("error") && !(*parsed)["error"].is_null();
  // An error may come without an id: then the request could not be read.
  if (!ours && (id != nullptr || !is_error))
    return error{errc::model_bad_response, "It sent the answer to another request than ours."};
  if (is_error) {
    fault problem;
    if (!read_error(*parsed, problem))
      problem.said = "an error without a message";
    if (!problem.code)
      problem.code = static_cast<std::int32_t>(peer_code::internal_error);
    out.problem = std::move(problem);
    return out;
  }
  out.item = read_item((*parsed)["result"]);
  return out;
}

} // namespace troupe::net::a2a
