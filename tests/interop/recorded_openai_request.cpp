// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_request.hpp>

#include "interop/recorded_request.hpp"
#include "net/conversation.hpp"

namespace troupe::test {

namespace {

using nlohmann::json;
constexpr const char* protocol = "openai";

bool is_data_url(const std::string& url) {
  return url.starts_with("data:") && url.find(";base64,") != std::string::npos;
}

part data_from_url(const std::string& url, const char* type_of_addresses) {
  if (!is_data_url(url))
    return {data_part{type_of_addresses, {}, url}, {}};
  const auto comma = url.find(";base64,");
  return {data_part{url.substr(5, comma - 5), url.substr(comma + 8), {}}, {}};
}

part read_item(const json& item) {
  const auto type = item.value("type", "");
  if (type == "text")
    return text(item["text"]);
  if (type == "image_url" && item["image_url"].size() == 1)
    return data_from_url(item["image_url"]["url"], "image/any");
  if (type == "input_audio")
    return {data_part{item["input_audio"]["format"] == "wav" ? "audio/wav" : "audio/mpeg",
                      item["input_audio"]["data"],
                      {}},
            {}};
  if (type == "file" && item["file"].contains("file_data") && is_data_url(item["file"]["file_data"]))
    return data_from_url(item["file"]["file_data"], "");
  return opaque_part(protocol, item);
}

std::vector<part> read_items(const json& value) {
  if (value.is_string())
    return value.get<std::string>().empty() ? std::vector<part>{} : std::vector<part>{text(value)};
  std::vector<part> out;
  for (const auto& item : value.is_array() ? value : json::array())
    out.push_back(read_item(item));
  return out;
}

content read_assistant(const json& message, call_names& names) {
  auto out = said(role::model, {});
  for (const char* field : {"reasoning", "reasoning_content"})
    if (message.contains(field) && message[field].is_string())
      out.parts.push_back(thought(message[field], blob_of(protocol, {{"field", field}})));
  if (message.contains("reasoning_details"))
    out.parts.push_back(
        thought("", blob_of(protocol, {{"reasoning_details", message["reasoning_details"]}})));
  for (auto& p : read_items(message.value("content", json{})))
    out.parts.push_back(std::move(p));
  const auto calls = message.value("tool_calls", json{});
  for (const auto& c : calls.is_array() ? calls : json::array()) {
    names.add(c["id"], c["function"]["name"]);
    out.parts.push_back({tool_call_part{call_id("ours"), c["function"]["name"], c["function"]["arguments"]},
                         blob_of(protocol, {{"id", c["id"]}})});
  }
  return out;
}

part read_result(const json& message, const call_names& names) {
  const auto id = message["tool_call_id"].get<std::string>();
  std::string shown;
  for (const auto& p : read_items(message["content"]))
    if (const auto* t = std::get_if<text_part>(&p.value))
      shown += t->text;
  return {tool_result_part{call_id("ours"), names.find(id), shown, false}, blob_of(protocol, {{"id", id}})};
}

void read_messages(const json& messages, prompt_head& head, std::vector<content>& contents) {
  call_names names;
  for (const auto& message : messages) {
    const auto who = message["role"].get<std::string>();
    if (who == "system" || who == "developer") {
      for (const auto& p : read_items(message["content"]))
        head.system += std::get<text_part>(p.value).text;
    } else if (who == "assistant") {
      contents.push_back(read_assistant(message, names));
    } else if (who == "tool") {
      if (contents.empty() || contents.back().role != role::tool)
        contents.push_back(said(role::tool, {}));
      contents.back().parts.push_back(read_result(message, names));
    } else {
      contents.push_back(said(role::user, read_items(message["content"])));
    }
  }
}

void read_choice(const json& choice, model_request& out) {
  if (choice.is_object()) {
    out.choice = tool_choice::required;
    out.required_tools = {choice["function"]["name"]};
  } else if (choice == "required" || choice == "any") {
    out.choice = tool_choice::required;
  } else if (choice == "none") {
    out.choice = tool_choice::none;
  }
}

void read_effort(const json& recorded, model_request& out) {
  const auto word = recorded.value("reasoning_effort", "");
  if (word == "none")
    out.thinking = thinking_level::off;
  else if (word == "medium")
    out.thinking = thinking_level::medium;
  else if (word == "high")
    out.thinking = thinking_level::high;
}

// Of equal meaning: a text and a list with that text; a missing content and an empty one.
void normalise_content(json& message) {
  auto& content = message["content"];
  if (content.is_string())
    content = content.get_ref<const std::string&>().empty()
                  ? json()
                  : json::array({{{"type", "text"}, {"text", content}}});
  if (content.is_null() || content.empty()) {
    message.erase("content");
    return;
  }
  for (auto& item : content) {
    item.erase("cache_control");
    item.erase("prompt_cache_breakpoint");
    if (item.contains("file"))
      item["file"].erase("filename");
  }
  if (message["role"] != "tool" || content.size() == 1)
    return;
  std::string all;
  for (const auto& item : content)
    all += item.value("text", "");
  content = json::array({{{"type", "text"}, {"text", all}}});
}

void normalise_message(json& message) {
  erase_keys(message, {"name", "prefix"});
  normalise_content(message);
  if (message.value("tool_calls", json::array()).empty())
    message.erase("tool_calls");
  if (!message.contains("tool_calls"))
    return;
  for (auto& call : message["tool_calls"]) {
    call.erase("index");
    auto value = json::parse(call["function"]["arguments"].get<std::string>(), nullptr, false);
    call["function"]["arguments"] = value.is_discarded() ? json::object() : value;
  }
}

// System messages stand first and are one.
void normalise_messages(json& messages) {
  std::string system;
  json others = json::array();
  for (auto& message : messages) {
    normalise_message(message);
    if (message["role"] != "system" && message["role"] != "developer") {
      others.push_back(message);
      continue;
    }
    for (const auto& item : message.value("content", json::array()))
      system += item["text"];
  }
  messages = {{"system", system}, {"others", others}};
}

json normalise(json request) {
  erase_nulls(request["messages"]);
  normalise_messages(request["messages"]);
  json tools = json::array();
  for (auto tool : request.value("tools", json::array())) {
    if (!tool.contains("function"))
      continue;
    erase_keys(tool, {"cache_control", "eager_input_streaming"});
    tool["type"] = "function";
    tool["function"].erase("strict");
    tools.push_back(std::move(tool));
  }
  request["tools"] = tools;
  if (tools.empty() || request.value("tool_choice", json{}) == "auto")
    request.erase("tool_choice");
  if (request.value("tool_choice", json{}) == "any")
    request["tool_choice"] = "required";
  if (request.contains("response_format") && request["response_format"].contains("json_schema"))
    erase_keys(request["response_format"]["json_schema"], {"name", "description", "strict"});
  if (request.value("stream", json{}) != true)
    request.erase("stream");
  return request;
}

} // namespace

request_pair rewrite_openai(const json& recorded) {
  prompt_head head;
  std::vector<content> contents;
  read_messages(recorded["messages"], head, contents);
  for (const auto& t : recorded.value("tools", json::array()))
    if (t.contains("function"))
      head.tools.push_back(
          {t["function"]["name"], t["function"]["description"], t["function"]["parameters"]});
  auto request = request_with(std::move(head), std::move(contents));
  request.model = recorded["model"];
  request.stream = recorded.value("stream", false);
  read_choice(recorded.value("tool_choice", json{}), request);
  read_effort(recorded, request);
  net::openai_options options;
  options.return_reasoning = true;
  options.stream_usage = recorded.contains("stream_options");
  options.legacy_max_tokens = recorded.contains("max_tokens");
  for (const char* key : {"max_tokens", "max_completion_tokens"})
    if (recorded.contains(key))
      request.max_output_tokens = recorded[key].get<std::uint32_t>();
  if (recorded.contains("temperature"))
    request.temperature = recorded["temperature"].get<double>();
  auto rest = recorded;
  if (recorded.contains("response_format") && recorded["response_format"].contains("json_schema")) {
    request.output_schema =
        std::make_shared<const json>(recorded["response_format"]["json_schema"]["schema"]);
    rest.erase("response_format");
  }
  if (request.thinking != thinking_level::automatic)
    rest.erase("reasoning_effort");
  options.extra_body =
      members_without(rest, {"messages", "model", "tools", "tool_choice", "stream", "stream_options",
                             "max_tokens", "max_completion_tokens", "temperature"});
  return {normalise(recorded), normalise(json::parse(joined(net::encode_openai_request(request, options))))};
}

} // namespace troupe::test
