// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/request_text.hpp>
#include <troupe/runtime/compaction.hpp>
#include <troupe/runtime/json_text.hpp>

namespace troupe::net {

namespace {

bool begins_object(std::string_view text) {
  auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

} // namespace

void append_json_value(std::string& out, const nlohmann::json& value) {
  out.append(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void append_key(std::string& out, std::string_view key) {
  if (!out.empty() && out.back() != '{')
    out += ',';
  out.append(1, '"').append(key).append("\":");
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  append_key(out, key);
  append_json_string(out, text);
}

void append_foreign_member(std::string& out, std::string_view key, std::string_view json) {
  if (!out.empty() && out.back() != '{')
    out += ',';
  append_json_string(out, key);
  out.append(1, ':').append(json);
}

void append_count(std::string& out, std::string_view key, const std::optional<std::uint32_t>& count) {
  if (!count)
    return;
  append_key(out, key);
  out.append(std::to_string(*count));
}

void append_temperature(std::string& out, const std::optional<double>& temperature) {
  if (!temperature)
    return;
  append_key(out, "temperature");
  append_json_number(out, *temperature);
}

void append_extra(std::string& out, const std::string& extra) {
  if (!extra.empty())
    out.append(out.empty() || out.back() == '{' ? "" : ",").append(extra);
}

std::size_t room_for(const content& c) noexcept {
  // What stands around the words of a part; what is written is kept, so there is little to spare.
  constexpr std::size_t around_text = 48;
  constexpr std::size_t around_call = 160;
  constexpr std::size_t around_result = 96;
  std::size_t room = estimate_bytes(c);
  for (const auto& p : c.parts)
    room += std::holds_alternative<tool_call_part>(p.value)     ? around_call
            : std::holds_alternative<tool_result_part>(p.value) ? around_result
                                                                : around_text;
  return room;
}

std::string_view sendable_arguments(std::string_view arguments) {
  return is_json(arguments) ? arguments : std::string_view("{}");
}

std::string_view object_arguments(std::string_view arguments) {
  return is_json_object(arguments) ? arguments : std::string_view("{}");
}

bool is_json_object(std::string_view text) {
  return begins_object(text) && is_json(text);
}

bool is_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool offers_tools(const model_request& request) noexcept {
  return !request.head->tools.empty();
}

std::string_view effort_word(thinking_level level) noexcept {
  switch (level) {
  case thinking_level::low:
    return "low";
  case thinking_level::medium:
    return "medium";
  case thinking_level::high:
    return "high";
  case thinking_level::automatic:
  case thinking_level::off:
    break;
  }
  return {};
}

std::string data_url(const data_part& data) {
  return data.uri.empty() ? "data:" + data.mime_type + ";base64," + data.base64 : data.uri;
}

std::string file_name(std::string_view mime_type) {
  auto slash = mime_type.find('/');
  std::string name = "file";
  if (slash != std::string_view::npos)
    name.append(1, '.').append(mime_type.substr(slash + 1));
  return name;
}

} // namespace troupe::net
