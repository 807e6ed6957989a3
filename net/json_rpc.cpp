// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/json_rpc.hpp>

#include <limits>
#include <utility>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr std::size_t max_shown_message = 512;

bool is_id(const json& id) {
  return id.is_string() || id.is_number_integer();
}

rpc_fault fault(int code, std::string message, json id = nullptr, bool from_response = false) {
  return {{code, std::move(message), {}}, std::move(id), from_response};
}

json take(json& object, const char* key) {
  auto found = object.find(key);
  return found == object.end() ? json{} : std::move(*found);
}

rpc_error read_error(json object) {
  rpc_error error;
  if (!object.is_object()) {
    error.message = "The error is no object.";
    return error;
  }
  if (auto code = object.find("code"); code != object.end() && code->is_number_integer()) {
    const auto value = code->get<std::int64_t>();
    if (value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max())
      error.code = static_cast<int>(value);
  }
  if (auto message = object.find("message"); message != object.end() && message->is_string())
    error.message = message->get<std::string>();
  error.data = take(object, "data");
  return error;
}

std::variant<rpc_message, rpc_fault> read_response(json message, json id) {
  const bool has_result = message.contains("result");
  const bool has_error = message.contains("error") && !message["error"].is_null();
  if (has_result && has_error)
    return fault(rpc_code::invalid_request, "A response has a result or an error, not both.", std::move(id),
                 true);
  if (!id.is_null() && !is_id(id))
    return fault(rpc_code::invalid_request, "The id of a response is a string or an integer.", nullptr, true);
  if (has_error)
    return rpc_message{rpc_response{std::move(id), read_error(take(message, "error"))}};
  return rpc_message{rpc_response{std::move(id), take(message, "result")}};
}

std::string write(json message) {
  message["jsonrpc"] = "2.0";
  return dump_json(message);
}

} // namespace

std::variant<rpc_message, rpc_fault> parse_rpc(std::string_view text, const json_limits& limits) {
  auto parsed = parse_json(text, limits);
  if (!parsed)
    return fault(rpc_code::parse_error, "The message cannot be read: " + parsed.failure().message);
  return read_rpc(std::move(*parsed));
}

std::variant<rpc_message, rpc_fault> read_rpc(json message) {
  if (!message.is_object())
    return fault(rpc_code::invalid_request,
                 message.is_array() ? "Batches are not supported." : "A message is a JSON object.");
  auto id = take(message, "id");
  if (take(message, "jsonrpc") != "2.0")
    return fault(rpc_code::invalid_request, "The key \"jsonrpc\" must be \"2.0\".",
                 is_id(id) ? std::move(id) : json{}, !message.contains("method"));
  auto method = message.find("method");
  if (method == message.end()) {
    if (message.contains("result") || message.contains("error"))
      return read_response(std::move(message), std::move(id));
    return fault(rpc_code::invalid_request, "A message has a method, a result or an error.",
                 is_id(id) ? std::move(id) : json{});
  }
  if (!method->is_string())
    return fault(rpc_code::invalid_request, "The method is a string.", is_id(id) ? std::move(id) : json{});
  auto name = method->get<std::string>();
  auto params = take(message, "params");
  if (!params.is_null() && !params.is_structured())
    return fault(rpc_code::invalid_request, "The params are an object or an array.",
                 is_id(id) ? std::move(id) : json{});
  if (id.is_null())
    return rpc_message{rpc_notification{std::move(name), std::move(params)}};
  if (!is_id(id))
    return fault(rpc_code::invalid_request, "The id of a request is a string or an integer.");
  return rpc_message{rpc_request{std::move(id), std::move(name), std::move(params)}};
}

std::string write_rpc(const rpc_request& request) {
  json message{{"id", request.id}, {"method", request.method}};
  if (!request.params.is_null())
    message["params"] = request.params;
  return write(std::move(message));
}

std::string write_rpc(const rpc_notification& notification) {
  json message{{"method", notification.method}};
  if (!notification.params.is_null())
    message["params"] = notification.params;
  return write(std::move(message));
}

std::string write_rpc(const rpc_response& response) {
  json message{{"id", response.id}};
  if (const auto* failed = std::get_if<rpc_error>(&response.outcome)) {
    message["error"] = {{"code", failed->code}, {"message", failed->message}};
    if (!failed->data.is_null())
      message["error"]["data"] = failed->data;
  } else {
    message["result"] = std::get<json>(response.outcome);
  }
  return write(std::move(message));
}

std::string describe(const rpc_error& error) {
  return "\"" + cut_text(error.message, max_shown_message) + "\" (" + std::to_string(error.code) + ")";
}

} // namespace troupe::net
