// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/anthropic_request.hpp>
#include <troupe/runtime/base64.hpp>

#include "interop/recorded_request.hpp"
#include "net/conversation.hpp"

namespace troupe::test {

namespace {

using nlohmann::json;
constexpr const char* protocol = "anthropic";

bool is_plain_data(const json& block) {
  const auto type = block["source"].value("type", "");
  return block.size() == 2 && (type == "base64" || type == "url");
}

part read_data(const json& block) {
  const auto& source = block["source"];
  if (source["type"] == "base64")
    return {data_part{source["media_type"], source["data"], {}}, {}};
  return {data_part{block["type"] == "image" ? "image/any" : "application/pdf", {}, source["url"]}, {}};
}

part read_call(const json& block, call_names& names) {
  auto rest = block;
  erase_keys(rest, {"type", "name", "input"});
  names.add(block["id"], block["name"]);
  return {tool_call_part{call_id("ours"), block["name"], block["input"].dump()}, blob_of(protocol, rest)};
}

std::string text_of(const json& content) {
  if (content.is_string())
    return content;
  std::string out;
  for (const auto& item : content)
    if (item["type"] == "text")
      out += item["text"];
  return out;
}

part read_result(const json& block, const call_names& names) {
  const auto id = block["tool_use_id"].get<std::string>();
  return {tool_result_part{call_id("ours"), names.find(id), text_of(block.value("content", json(""))),
                           block.value("is_error", false)},
          blob_of(protocol, {{"id", id}})};
}

part read_block(const json& block, call_names& names) {
  const auto type = block["type"].get<std::string>();
  if (type == "text")
    return text(block["text"]);
  if (type == "thinking")
    return thought(block["thinking"], blob_of(protocol, {{"signature", block["signature"]}}));
  if (type == "tool_use")
    return read_call(block, names);
  if (type == "tool_result")
    return read_result(block, names);
  if ((type == "image" || type == "document") && is_plain_data(block))
    return read_data(block);
  return opaque_part(protocol, block);
}

// Blocks as a list, results first and with text only; what a tool shows beside it follows.
json normalise_blocks(const json& content) {
  json results = json::array();
  json others = json::array();
  json shown = json::array();
  if (content.is_string())
    return json::array({{{"type", "text"}, {"text", content}}});
  for (auto block : content) {
    block.erase("cache_control");
    if (block["type"] != "tool_result") {
      others.push_back(block);
      continue;
    }
    const auto inside = block.value("content", json(""));
    block["content"] = text_of(inside);
    if (!block.value("is_error", false))
      block.erase("is_error");
    results.push_back(block);
    for (const auto& item : inside.is_array() ? inside : json::array())
      if (item["type"] != "text")
        shown.push_back(item);
  }
  for (const auto* more : {&others, &shown})
    results.insert(results.end(), more->begin(), more->end());
  return results;
}

// What a tool shows stands in its result, where it is recorded; with us it follows.
std::vector<part> read_shown(const json& content, call_names& names) {
  std::vector<part> out;
  for (const auto& block : normalise_blocks(content))
    out.push_back(read_block(block, names));
  return out;
}

json normalise(json request) {
  request["system"] = text_of(request.value("system", json("")));
  for (auto& message : request["messages"]) {
    message["content"] = normalise_blocks(message["content"]);
    if (message["role"] == "system")
      message["role"] = "user";
  }
  json tools = json::array();
  for (auto tool : request.value("tools", json::array())) {
    if (!tool.contains("input_schema"))
      continue;
    erase_keys(tool, {"strict", "defer_loading", "type", "cache_control"});
    tools.push_back(std::move(tool));
  }
  request["tools"] = tools;
  if (tools.empty() || request.value("tool_choice", json{}) == json{{"type", "auto"}})
    request.erase("tool_choice");
  if (request.value("stream", json{}) != true)
    request.erase("stream");
  if (request.contains("thinking"))
    request["thinking"].erase("display");
  return request;
}

void read_thinking(const json& recorded, model_request& request, net::anthropic_options& options) {
  const auto thinking = recorded.value("thinking", json::object());
  const auto effort = recorded.value("output_config", json::object()).value("effort", "");
  request.max_output_tokens = recorded["max_tokens"].get<std::uint32_t>();
  if (thinking.value("type", "") == "enabled") {
    request.thinking = thinking_level::high;
    options.thinking = net::anthropic_thinking::budget;
    options.budgets.high = thinking["budget_tokens"];
    options.default_max_tokens = *request.max_output_tokens - options.budgets.high;
    request.max_output_tokens.reset();
  } else if (thinking.value("type", "") == "disabled") {
    request.thinking = thinking_level::off;
  } else if (thinking.value("type", "") == "adaptive" && (effort == "high" || effort == "low")) {
    request.thinking = effort == "high" ? thinking_level::high : thinking_level::low;
    options.thinking = net::anthropic_thinking::adaptive;
  }
}

void read_choice(const json& choice, model_request& request) {
  const auto type = choice.value("type", "auto");
  if (type == "any" || type == "tool")
    request.choice = tool_choice::required;
  if (type == "tool")
    request.required_tools = {choice["name"]};
  if (type == "none")
    request.choice = tool_choice::none;
}

void read_format(const json& recorded, json& rest, model_request& request) {
  auto config = recorded.value("output_config", json::object());
  if (config.contains("format"))
    request.output_schema = std::make_shared<const json>(config["format"]["schema"]);
  config.erase("format");
  if (request.thinking != thinking_level::automatic)
    config.erase("effort");
  // The rest would be a second output_config beside ours.
  if (config.empty() || request.output_schema || request.thinking != thinking_level::automatic)
    rest.erase("output_config");
  if (request.thinking != thinking_level::automatic)
    rest.erase("thinking");
}

} // namespace

request_pair rewrite_anthropic(const json& recorded) {
  prompt_head head;
  head.system = text_of(recorded.value("system", json("")));
  for (const auto& t : recorded.value("tools", json::array()))
    if (t.contains("input_schema"))
      head.tools.push_back({t["name"], t["description"], t["input_schema"]});
  std::vector<content> contents;
  call_names names;
  for (const auto& message : recorded["messages"])
    contents.push_back(said(message["role"] == "assistant" ? role::model : role::user,
                            read_shown(message["content"], names)));
  auto request = request_with(std::move(head), std::move(contents));
  request.model = recorded["model"];
  request.stream = recorded.value("stream", false);
  net::anthropic_options options;
  options.cache = net::anthropic_cache::none;
  read_choice(recorded.value("tool_choice", json::object()), request);
  read_thinking(recorded, request, options);
  auto rest = recorded;
  read_format(recorded, rest, request);
  options.extra_body =
      members_without(rest, {"messages", "model", "tools", "tool_choice", "stream", "max_tokens", "system"});
  return {normalise(recorded),
          normalise(json::parse(joined(net::encode_anthropic_request(request, options, {}))))};
}

} // namespace troupe::test
