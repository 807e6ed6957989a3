// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_tape.hpp>
#include <troupe/net/internal/recorded_exchange.hpp>
#include <troupe/runtime/base64.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace troupe::net {

namespace {

constexpr int version = 1;
// Requests may carry images; a file holds a request one level deeper.
constexpr json_limits request_limits{128, std::size_t{256} << 20};
constexpr json_limits file_limits{request_limits.max_depth + 1, std::size_t{1} << 30};

// Calls `see(name, value)` for each header line of make_header_lines.
template <class See>
void for_headers(std::string_view lines, See&& see) {
  while (!lines.empty()) {
    auto end = lines.find("\r\n");
    auto line = lines.substr(0, end);
    if (auto colon = line.find(": "); colon != std::string_view::npos)
      see(line.substr(0, colon), line.substr(colon + 2));
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 2);
  }
}

bool is_secret_parameter(std::string_view parameter) {
  auto name = parameter.substr(0, parameter.find('='));
  return name == "key" || is_secret_key(name);
}

// Calls `see` for each parameter of the target's query.
template <class See>
void for_parameters(std::string_view target, See&& see) {
  auto mark = target.find('?');
  if (mark == std::string_view::npos)
    return;
  auto rest = target.substr(mark + 1);
  while (!rest.empty()) {
    auto end = std::min(rest.find('&'), rest.size());
    see(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::string path_of(std::string_view target) {
  std::string out(target.substr(0, target.find('?')));
  char separator = '?';
  for_parameters(target, [&](std::string_view parameter) {
    if (is_secret_parameter(parameter))
      return;
    out.append(1, separator).append(parameter);
    separator = '&';
  });
  return out;
}

void replace_all(std::string& text, const std::string& what) {
  constexpr std::string_view mark = "[key]";
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += mark.size())
    text.replace(at, what.size(), mark);
}

error wrong(std::string what) {
  return {errc::bad_json, std::move(what)};
}

} // namespace

void collect_secrets(const http_request& request, secret_values& out) {
  auto add = [&](std::string_view value) {
    if (value.size() >= min_secret_bytes)
      out.emplace(value);
  };
  if (request.header_lines)
    for_headers(*request.header_lines, [&](std::string_view name, std::string_view value) {
      // Of "Bearer abc" the second word is secret.
      if (is_secret_key(name))
        add(value.substr(value.find_last_of(' ') + 1));
    });
  for_parameters(request.target, [&](std::string_view parameter) {
    auto equals = parameter.find('=');
    if (equals != std::string_view::npos && is_secret_parameter(parameter))
      add(parameter.substr(equals + 1));
  });
}

recorded_request read_request(const http_request& request, const secret_values& secrets) {
  recorded_request out;
  out.method = request.method;
  out.path = without_secrets(path_of(request.target), secrets);
  std::string text;
  for (const auto& piece : request.body)
    text.append(piece.view());
  text = without_secrets(std::move(text), secrets);
  auto json = parse_json(text, request_limits);
  if (json)
    out.body = *std::move(json);
  else
    out.body = is_valid_utf8(text) ? std::move(text) : encode_base64(text);
  return out;
}

std::string without_secrets(std::string text, const secret_values& secrets) {
  for (const auto& secret : secrets) {
    replace_all(text, secret);
    const auto quoted = nlohmann::json(secret).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (const auto inside = quoted.substr(1, quoted.size() - 2); inside != secret)
      replace_all(text, inside);
  }
  return text;
}

std::string to_file_text(const recorded_exchange& exchange) {
  nlohmann::ordered_json out;
  out["version"] = version;
  out["method"] = exchange.request.method;
  out["path"] = exchange.request.path;
  out["request"] = exchange.request.body;
  out["status"] = exchange.status;
  out["content_type"] = exchange.content_type;
  if (is_valid_utf8(exchange.body))
    out["body"] = exchange.body;
  else
    out["body_base64"] = encode_base64(exchange.body);
  out["complete"] = exchange.complete;
  return out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

result<recorded_exchange> from_file_text(std::string_view text) {
  auto parsed = parse_json(text, file_limits);
  if (!parsed)
    return parsed.failure();
  auto& in = *parsed;
  if (!in.is_object() || !in.contains("version") || in["version"] != version)
    return wrong("it is no recording of version " + std::to_string(version) + ".");
  for (const char* name : {"method", "path"})
    if (!in.contains(name) || !in[name].is_string())
      return wrong("\"" + std::string(name) + "\" is missing or no text.");
  if (!in.contains("status") || !in["status"].is_number_integer())
    return wrong("\"status\" is missing or no number.");
  if (!in.contains("request"))
    return wrong("\"request\" is missing.");
  recorded_exchange out;
  out.request = {in["method"], in["path"], std::move(in["request"])};
  out.status = in["status"];
  if (in.contains("content_type") && in["content_type"].is_string())
    out.content_type = in["content_type"];
  if (in.contains("complete") && in["complete"].is_boolean())
    out.complete = in["complete"];
  if (in.contains("body") && in["body"].is_string()) {
    out.body = std::move(in["body"].get_ref<std::string&>());
    return out;
  }
  auto bytes = in.contains("body_base64") && in["body_base64"].is_string()
                   ? decode_base64(in["body_base64"].get_ref<const std::string&>())
                   : std::nullopt;
  if (!bytes)
    return wrong("\"body\" is missing or no text.");
  out.body = *std::move(bytes);
  return out;
}

std::string recording_name(std::size_t number) {
  auto digits = std::to_string(number);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits + ".json";
}

std::size_t recording_number(std::string_view name) noexcept {
  constexpr std::string_view ending = ".json";
  if (!name.ends_with(ending))
    return 0;
  name.remove_suffix(ending.size());
  std::size_t number = 0;
  auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), number);
  return bad == std::errc{} && end == name.data() + name.size() ? number : 0;
}

} // namespace troupe::net
