// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/gemini_request.hpp>

#include "interop/recorded_request.hpp"
#include "net/conversation.hpp"

namespace troupe::test {

namespace {

using nlohmann::json;
constexpr const char* protocol = "gemini";

std::string camel(const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_' && i + 1 < name.size())
      out += static_cast<char>(std::toupper(static_cast<unsigned char>(name[++i])));
    else
      out += name[i];
  }
  return out;
}

// The service takes both spellings of its own names; what belongs to tools and schemas is left alone.
json with_camel_names(const json& value) {
  if (value.is_array()) {
    json out = json::array();
    for (const auto& inner : value)
      out.push_back(with_camel_names(inner));
    return out;
  }
  if (!value.is_object())
    return value;
  json out = json::object();
  for (const auto& [key, inner] : value.items()) {
    const auto name = camel(key);
    const bool foreign =
        name == "args" || name == "response" || name.ends_with("JsonSchema") || name == "labels";
    out[name] = foreign ? inner : with_camel_names(inner);
  }
  return out;
}

part read_call(const json& p, call_names&) {
  const auto& call = p["functionCall"];
  json inside = json::object();
  if (call.contains("id"))
    inside["id"] = call["id"];
  if (p.contains("thoughtSignature"))
    inside["thoughtSignature"] = p["thoughtSignature"];
  return {tool_call_part{call_id("ours"), call["name"], call.value("args", json::object()).dump()},
          blob_of(protocol, inside)};
}

part read_result(const json& p) {
  const auto& answer = p["functionResponse"];
  json inside = json::object();
  if (answer.contains("id"))
    inside["id"] = answer["id"];
  return {tool_result_part{call_id("ours"), answer["name"], answer.value("response", json::object()).dump(),
                           false},
          blob_of(protocol, inside)};
}

part read_part(const json& p, call_names& names) {
  if (p.contains("functionCall"))
    return read_call(p, names);
  if (p.contains("functionResponse"))
    return read_result(p);
  const bool plain = p.size() == 1;
  if (plain && p.contains("inlineData"))
    return {data_part{p["inlineData"]["mimeType"], p["inlineData"]["data"], {}}, {}};
  if (plain && p.contains("fileData"))
    return {data_part{p["fileData"]["mimeType"], {}, p["fileData"]["fileUri"]}, {}};
  if (!p.contains("text"))
    return opaque_part(protocol, p);
  auto blob = p.contains("thoughtSignature")
                  ? blob_of(protocol, {{"thoughtSignature", p["thoughtSignature"]}})
                  : std::string{};
  return p.value("thought", false) ? thought(p["text"], blob) : text(p["text"], blob);
}

// What a tool shows beside its answer follows in the same content.
json normalise_parts(const json& parts) {
  json out = json::array();
  json shown = json::array();
  for (auto p : parts) {
    // Thoughts and empty texts without a signature do not go back.
    const bool silent = p.value("thought", false) || p.value("text", "x").empty();
    if (silent && !p.contains("thoughtSignature"))
      continue;
    if (p.contains("functionResponse")) {
      auto& answer = p["functionResponse"];
      for (const auto& item : answer.value("parts", json::array()))
        shown.push_back(item);
      answer.erase("parts");
    }
    out.push_back(p);
  }
  out.insert(out.end(), shown.begin(), shown.end());
  return out;
}

json normalise(json request) {
  json contents = json::array();
  for (auto& content : request["contents"]) {
    content["parts"] = normalise_parts(content["parts"]);
    if (!content["parts"].empty())
      contents.push_back(content);
  }
  request["contents"] = contents;
  std::string system;
  for (const auto& p : request.value("systemInstruction", json::object()).value("parts", json::array()))
    system += p.value("text", "");
  request["systemInstruction"] = system;
  json tools = json::array();
  for (const auto& tool : request.value("tools", json::array()))
    for (const auto& declaration : tool.value("functionDeclarations", json::array()))
      tools.push_back(declaration);
  request["tools"] = tools;
  auto choice = request.value("toolConfig", json::object()).value("functionCallingConfig", json::object());
  if (tools.empty() || choice.value("mode", "") == "AUTO" || choice.value("mode", "") == "VALIDATED")
    choice = json::object();
  request["toolConfig"] = choice;
  if (request.value("generationConfig", json{}).empty())
    request.erase("generationConfig");
  return request;
}

void read_choice(const json& recorded, model_request& request) {
  const auto config =
      recorded.value("toolConfig", json::object()).value("functionCallingConfig", json::object());
  const auto mode = config.value("mode", "AUTO");
  if (mode == "NONE")
    request.choice = tool_choice::none;
  if (mode != "ANY")
    return;
  request.choice = tool_choice::required;
  for (const auto& name : config.value("allowedFunctionNames", json::array()))
    request.required_tools.push_back(name);
}

void read_thinking(json& config, model_request& request, net::gemini_options& options) {
  const auto thinking = config.value("thinkingConfig", json::object());
  options.include_thoughts = thinking.value("includeThoughts", false);
  if (thinking.value("thinkingBudget", 1) == 0 && request.model.find("2.5") != std::string::npos)
    request.thinking = thinking_level::off;
  if (options.include_thoughts || request.thinking == thinking_level::off)
    config.erase("thinkingConfig");
}

void read_config(json config, model_request& request, net::gemini_options& options) {
  if (config.contains("maxOutputTokens"))
    request.max_output_tokens = config["maxOutputTokens"].get<std::uint32_t>();
  if (config.contains("temperature"))
    request.temperature = config["temperature"].get<double>();
  read_thinking(config, request, options);
  if (config.contains("responseJsonSchema")) {
    request.output_schema = std::make_shared<const json>(config["responseJsonSchema"]);
    erase_keys(config, {"responseJsonSchema", "responseMimeType"});
  }
  options.extra_config = members_without(config, {"maxOutputTokens", "temperature"});
}

} // namespace

request_pair rewrite_gemini(const json& raw, const std::string& model) {
  const auto recorded = with_camel_names(raw);
  prompt_head head;
  bool subset = false;
  const auto normal = normalise(recorded);
  for (const auto& t : normal["tools"]) {
    subset = subset || t.contains("parameters");
    head.tools.push_back(
        {t["name"], t["description"], t.value(subset ? "parameters" : "parametersJsonSchema", json{})});
  }
  head.system = normal["systemInstruction"];
  std::vector<content> contents;
  call_names names;
  for (const auto& c : recorded["contents"]) {
    auto read = said(c["role"] == "model" ? role::model : role::user, {});
    for (const auto& p : normalise_parts(c["parts"]))
      read.parts.push_back(read_part(p, names));
    contents.push_back(std::move(read));
  }
  auto request = request_with(std::move(head), std::move(contents));
  request.model = model;
  net::gemini_options options;
  options.schema_subset = subset;
  read_choice(recorded, request);
  read_config(recorded.value("generationConfig", json::object()), request, options);
  options.extra_body =
      members_without(recorded, {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"});
  return {normal, normalise(json::parse(joined(net::encode_gemini_request(request, options))))};
}

} // namespace troupe::test
