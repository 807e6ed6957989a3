// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/openai_request.hpp>
#include <troupe/net/internal/part_blob.hpp>
#include <troupe/net/internal/request_text.hpp>

#include <string_view>

namespace troupe::net {

namespace {

// Their addresses name the protocol in the slots for encoded forms.
constexpr char content_forms[2] = {}; // without and with the reasoning
constexpr char head_form = 0;

void append_text_item(std::string& out, std::string_view text) {
  out.append(R"({"type":"text","text":)");
  append_json_string(out, text);
  out += '}';
}

void append_data_item(std::string& out, const data_part& data) {
  auto source = data_url(data);
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

void append_call(std::string& out, const part& p, const tool_call_part& call) {
  blob_view blob(p.blob.str(), "openai");
  auto id = blob.text("id");
  out.append(R"({"id":)");
  append_json_string(out, id.empty() ? call.call.str() : id);
  out.append(R"(,"type":"function","function":{"name":)");
  append_json_string(out, call.name);
  out.append(R"(,"arguments":)");
  append_json_string(out, sendable_arguments(call.arguments));
  out += '}';
  if (auto extra = blob.raw("extra_content"); !extra.empty())
    out.append(R"(,"extra_content":)").append(extra);
  out += '}';
}

void append_result(std::string& out, const part& p, const tool_result_part& answer) {
  out.append(R"(,{"role":"tool","tool_call_id":)");
  append_json_string(out, openai_call_id(p, answer.call));
  out.append(R"(,"content":)");
  append_json_string(out, answer.text);
  out += '}';
}

// What a model has said, as it gathers from the parts.
struct assistant {
  std::string text;  // the inside of a JSON string
  std::string items; // elements of the content, when it has to be a list
  std::string calls;
  std::string extra; // further members, each with a comma before it
  bool has_text = false;
  bool is_list = false;

  void add_text(const part& p, const text_part& said) {
    blob_view blob(p.blob.str(), "openai");
    if (auto item = blob.raw("item"); !item.empty()) {
      is_list = true;
      items.append(items.empty() ? "" : ",").append(item);
      return;
    }
    if (auto more = blob.raw("extra_content"); !more.empty())
      extra.append(R"(,"extra_content":)").append(more);
    if (said.text.empty())
      return;
    has_text = true;
    append_json_text(text, said.text);
    items.append(items.empty() ? "" : ",");
    append_text_item(items, said.text);
  }

  void add_thought(const part& p, const thought_part& thought, bool with_reasoning) {
    blob_view blob(p.blob.str(), "openai");
    if (auto details = blob.raw("reasoning_details"); !details.empty())
      extra.append(R"(,"reasoning_details":)").append(details);
    if (auto field = blob.text("field"); with_reasoning && !field.empty()) {
      extra.append(R"(,")").append(field).append(R"(":)");
      append_json_string(extra, thought.text);
    }
  }
};

void append_assistant(std::string& out, const content& c, bool with_reasoning) {
  assistant said;
  said.calls.reserve(room_for(c));
  for (const auto& p : c.parts) {
    if (const auto* text = std::get_if<text_part>(&p.value)) {
      said.add_text(p, *text);
    } else if (const auto* thought = std::get_if<thought_part>(&p.value)) {
      said.add_thought(p, *thought, with_reasoning);
    } else if (const auto* call = std::get_if<tool_call_part>(&p.value)) {
      said.calls.append(said.calls.empty() ? "" : ",");
      append_call(said.calls, p, *call);
    }
  }
  if (!said.has_text && !said.is_list && said.calls.empty())
    return;
  out.append(R"(,{"role":"assistant","content":)");
  if (said.is_list)
    out.append(1, '[').append(said.items).append(1, ']');
  else if (said.has_text)
    out.append(1, '"').append(said.text).append(1, '"');
  else
    out.append("null");
  out.append(said.extra);
  if (!said.calls.empty())
    out.append(R"(,"tool_calls":[)").append(said.calls).append(1, ']');
  out += '}';
}

void append_user_item(std::string& out, const part& p) {
  if (auto item = blob_view(p.blob.str(), "openai").raw("item"); !item.empty())
    out.append(item);
  else if (const auto* text = std::get_if<text_part>(&p.value))
    append_text_item(out, text->text);
  else if (const auto* data = std::get_if<data_part>(&p.value))
    append_data_item(out, *data);
}

void append_user(std::string& out, const content& c) {
  const part* only = nullptr;
  std::size_t count = 0;
  std::string items;
  for (const auto& p : c.parts) {
    if (!std::holds_alternative<text_part>(p.value) && !std::holds_alternative<data_part>(p.value))
      continue;
    only = count++ == 0 ? &p : nullptr;
    items.append(items.empty() ? "" : ",");
    append_user_item(items, p);
  }
  if (count == 0)
    return;
  out.append(R"(,{"role":"user","content":)");
  const auto* text = only == nullptr ? nullptr : std::get_if<text_part>(&only->value);
  if (text != nullptr && only->blob.empty())
    append_json_string(out, text->text);
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
    if (tool.parameters.is_object()) {
      append_key(out, "parameters");
      append_json_value(out, tool.parameters);
    }
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
  append_json_value(out, schema);
  if (strict)
    out.append(R"(,"strict":true)");
  out.append("}}");
}

std::string_view effort(thinking_level level, const openai_options& options) {
  return level == thinking_level::off ? std::string_view(options.effort_off) : effort_word(level);
}

void append_function(std::string& out, const std::string& name) {
  out.append(R"({"type":"function","function":{"name":)");
  append_json_string(out, name);
  out.append("}}");
}

void append_settings(std::string& out, const model_request& request, const openai_options& options) {
  out.append(R"(],"model":)");
  append_json_string(out, request.model);
  append_openai_choice(out, request, append_function,
                       R"({"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[)", "]}}");
  append_count(out, options.legacy_max_tokens ? "max_tokens" : "max_completion_tokens",
               request.max_output_tokens);
  append_temperature(out, request.temperature);
  if (auto word = effort(request.thinking, options); !word.empty())
    append_member(out, "reasoning_effort", word);
  if (request.output_schema)
    append_schema(out, *request.output_schema, options.strict_schema);
  if (request.stream) {
    out.append(R"(,"stream":true)");
    if (options.stream_usage)
      out.append(R"(,"stream_options":{"include_usage":true})");
  }
  append_extra(out, options.extra_body);
  out += '}';
}

} // namespace

std::string openai_call_id(const part& p, const call_id& ours) {
  auto id = blob_view(p.blob.str(), "openai").text("id");
  return id.empty() ? ours.str() : id;
}

std::string encode_openai_content(const content& c, bool with_reasoning) {
  std::string out;
  out.reserve(room_for(c));
  for (const auto& p : c.parts)
    if (const auto* answer = std::get_if<tool_result_part>(&p.value))
      append_result(out, p, *answer);
  if (c.role == role::model)
    append_assistant(out, c, with_reasoning);
  else
    append_user(out, c);
  return out;
}

std::vector<body_piece> encode_openai_request(const model_request& request, const openai_options& options) {
  const auto& head = *request.head;
  request_pieces pieces(head.encoded.get(&head_form, [&] { return encode_head(head); }), !head.system.empty(),
                        request.contents.size());
  const bool with_reasoning = options.return_reasoning;
  pieces.add_contents(request.contents, &content_forms[with_reasoning ? 1 : 0],
                      [&](const content& c) { return encode_openai_content(c, with_reasoning); });
  if (!request.reminder.empty()) {
    std::string reminder = R"(,{"role":"user")";
    append_member(reminder, "content", request.reminder);
    pieces.add(reminder + "}");
  }
  std::string end;
  append_settings(end, request, options);
  return pieces.finish(std::move(end));
}

} // namespace troupe::net
