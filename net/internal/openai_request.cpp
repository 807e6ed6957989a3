// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/openai_request.hpp>

#include <string_view>

namespace troupe::net {

namespace {

// Their addresses name the protocol in the slots for encoded forms.
constexpr char content_form = 0;
constexpr char head_form = 0;

std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_text_item(std::string& out, std::string_view text) {
  out.append(R"({"type":"text","text":)");
  append_json_string(out, text);
  out += '}';
}

// What a file is called matters only for its ending.
std::string file_name(std::string_view mime_type) {
  auto slash = mime_type.find('/');
  std::string name = "file";
  if (slash != std::string_view::npos)
    name.append(1, '.').append(mime_type.substr(slash + 1));
  return name;
}

void append_data_item(std::string& out, const data_part& data) {
  auto source = data.uri.empty() ? "data:" + data.mime_type + ";base64," + data.base64 : data.uri;
  if (data.mime_type.starts_with("image/")) {
    out.append(R"({"type":"image_url","image_url":{"url":)");
    append_json_string(out, source);
    out.append("}}");
  } else if (!data.uri.empty()) {
    append_text_item(out, data.uri); // the API takes files by their bytes only
  } else if (data.mime_type == "audio/wav" || data.mime_type == "audio/mpeg") {
    out.append(R"({"type":"input_audio","input_audio":{"data":)");
    append_json_string(out, data.base64);
    out.append(data.mime_type == "audio/wav" ? R"(,"format":"wav"}})" : R"(,"format":"mp3"}})");
  } else {
    out.append(R"({"type":"file","file":{"filename":)");
    append_json_string(out, file_name(data.mime_type));
    out.append(R"(,"file_data":)");
    append_json_string(out, source);
    out.append("}}");
  }
}

// Servers refuse a history with arguments that are no JSON, and so would refuse the whole conversation from
// then on.
std::string_view sendable_arguments(std::string_view arguments) {
  return nlohmann::json::accept(arguments) ? arguments : std::string_view("{}");
}

void append_call(std::string& out, const part& p, const tool_call_part& call) {
  out.append(R"({"id":)");
  append_json_string(out, openai_call_id(p, call.call));
  out.append(R"(,"type":"function","function":{"name":)");
  append_json_string(out, call.name);
  out.append(R"(,"arguments":)");
  append_json_string(out, sendable_arguments(call.arguments));
  out.append("}}");
}

void append_result(std::string& out, const part& p, const tool_result_part& answer) {
  out.append(R"(,{"role":"tool","tool_call_id":)");
  append_json_string(out, openai_call_id(p, answer.call));
  out.append(R"(,"content":)");
  append_json_string(out, answer.text);
  out += '}';
}

void append_assistant(std::string& out, const content& c) {
  std::string text;
  std::string calls;
  bool has_text = false;
  for (const auto& p : c.parts) {
    if (const auto* said = std::get_if<text_part>(&p.value)) {
      append_json_text(text, said->text);
      has_text = has_text || !said->text.empty();
    } else if (const auto* call = std::get_if<tool_call_part>(&p.value)) {
      calls.append(calls.empty() ? "" : ",");
      append_call(calls, p, *call);
    }
  }
  if (!has_text && calls.empty())
    return;
  out.append(R"(,{"role":"assistant","content":)");
  if (has_text)
    out.append(1, '"').append(text).append(1, '"');
  else
    out.append("null");
  if (!calls.empty())
    out.append(R"(,"tool_calls":[)").append(calls).append(1, ']');
  out += '}';
}

void append_user(std::string& out, const content& c) {
  const text_part* only = nullptr;
  std::size_t count = 0;
  std::string items;
  for (const auto& p : c.parts) {
    const auto* text = std::get_if<text_part>(&p.value);
    const auto* data = std::get_if<data_part>(&p.value);
    if (text == nullptr && data == nullptr)
      continue;
    only = count++ == 0 ? text : nullptr;
    items.append(items.empty() ? "" : ",");
    if (text != nullptr)
      append_text_item(items, text->text);
    else
      append_data_item(items, *data);
  }
  if (count == 0)
    return;
  out.append(R"(,{"role":"user","content":)");
  if (only != nullptr)
    append_json_string(out, only->text);
  else
    out.append(1, '[').append(items).append(1, ']');
  out += '}';
}

void append_tools(std::string& out, const std::vector<tool_declaration>& tools) {
  out.append(R"("tools":[)");
  for (const auto& tool : tools) {
    out.append(&tool == tools.data() ? "" : ",").append(R"({"type":"function","function":{"name":)");
    append_json_string(out, tool.name);
    out.append(R"(,"description":)");
    append_json_string(out, tool.description);
    if (tool.parameters.is_object())
      out.append(R"(,"parameters":)").append(dump(tool.parameters));
    out.append("}}");
  }
  out.append("],");
}

std::string encode_head(const prompt_head& head) {
  std::string out = "{";
  if (!head.tools.empty())
    append_tools(out, head.tools);
  out.append(R"("messages":[)");
  if (!head.system.empty()) {
    out.append(R"({"role":"system","content":)");
    append_json_string(out, head.system);
    out += '}';
  }
  return out;
}

void append_schema(std::string& out, const nlohmann::json& schema, bool strict) {
  out.append(R"(,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":)");
  out.append(dump(schema));
  if (strict)
    out.append(R"(,"strict":true)");
  out.append("}}");
}

std::string_view effort(thinking_level level, const openai_options& options) {
  switch (level) {
  case thinking_level::automatic:
    return {};
  case thinking_level::off:
    return options.effort_off;
  case thinking_level::low:
    return "low";
  case thinking_level::medium:
    return "medium";
  case thinking_level::high:
    return "high";
  }
  return {};
}

void append_settings(std::string& out, const model_request& request, const openai_options& options) {
  out.append(R"(],"model":)");
  append_json_string(out, request.model);
  if (!request.head->tools.empty() && request.choice != tool_choice::automatic)
    out.append(R"(,"tool_choice":)")
        .append(request.choice == tool_choice::none ? R"("none")" : R"("required")");
  if (request.max_output_tokens)
    out.append(options.legacy_max_tokens ? R"(,"max_tokens":)" : R"(,"max_completion_tokens":)")
        .append(std::to_string(*request.max_output_tokens));
  if (request.temperature) {
    out.append(R"(,"temperature":)");
    append_json_number(out, *request.temperature);
  }
  if (auto word = effort(request.thinking, options); !word.empty()) {
    out.append(R"(,"reasoning_effort":)");
    append_json_string(out, word);
  }
  if (request.output_schema)
    append_schema(out, *request.output_schema, options.strict_schema);
  if (request.stream) {
    out.append(R"(,"stream":true)");
    if (options.stream_usage)
      out.append(R"(,"stream_options":{"include_usage":true})");
  }
  out += '}';
}

} // namespace

std::string openai_call_id(const part& p, const call_id& ours) {
  std::string id;
  if (!p.blob.empty()) {
    json_reader blob(p.blob);
    blob.object([&](std::string_view key) {
      if (key == "id")
        blob.string(id);
      else
        blob.skip();
    });
    if (blob.failed())
      id.clear();
  }
  return id.empty() ? ours.str() : id;
}

std::string encode_openai_content(const content& c) {
  std::string out;
  for (const auto& p : c.parts)
    if (const auto* answer = std::get_if<tool_result_part>(&p.value))
      append_result(out, p, *answer);
  if (c.role == role::model)
    append_assistant(out, c);
  else
    append_user(out, c);
  return out;
}

std::vector<body_piece> encode_openai_request(const model_request& request, const openai_options& options) {
  std::vector<body_piece> pieces;
  pieces.reserve(request.contents.size() + 2);
  pieces.emplace_back(request.head->encoded.get(&head_form, [&] { return encode_head(*request.head); }));
  // Every message is written with a comma before it, which the first one of all must not have.
  bool first = request.head->system.empty();
  for (std::size_t i = 0; i < request.contents.size(); ++i) {
    const auto& c = *request.contents[i];
    auto text = c.encoded.get(&content_form, [&] { return encode_openai_content(c); });
    if (text->empty())
      continue;
    pieces.emplace_back(std::move(text), first ? 1 : 0);
    first = false;
  }
  std::string end;
  if (!request.reminder.empty()) {
    end.append(first ? "" : ",").append(R"({"role":"user","content":)");
    append_json_string(end, request.reminder);
    end += '}';
  }
  append_settings(end, request, options);
  pieces.emplace_back(std::make_shared<const std::string>(std::move(end)));
  return pieces;
}

} // namespace troupe::net
