// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/openai_responses_request.hpp>
#include <troupe/net/internal/part_blob.hpp>
#include <troupe/net/internal/request_text.hpp>

namespace troupe::net {

namespace {

// Their addresses name the protocol in the slots for encoded forms.
constexpr char content_form = 0;
constexpr char head_form = 0;

constexpr std::string_view protocol = "openai_responses";

void append_members(std::string& out, const blob_view& blob) {
  for (const auto& [key, value] : blob.members())
    append_foreign_member(out, key, value);
}

std::string call_id_of(const blob_view& blob, const call_id& ours) {
  auto id = blob.text("call_id");
  return id.empty() ? ours.str() : id;
}

// A message that the service made goes back as the item that it was.
void append_said(std::string& out, const text_part& text, const blob_view& blob) {
  if (text.text.empty())
    return;
  if (!blob) {
    out.append(R"(,{"role":"assistant")");
    append_member(out, "content", text.text);
  } else {
    out.append(R"(,{"type":"message","role":"assistant")");
    append_members(out, blob);
    out.append(R"(,"content":[{"type":"output_text","text":)");
    append_json_string(out, text.text);
    out.append(R"(,"annotations":[]}])");
  }
  out += '}';
}

void append_call(std::string& out, const tool_call_part& call, const blob_view& blob) {
  out.append(R"(,{"type":"function_call")");
  if (blob.text("call_id").empty())
    append_member(out, "call_id", call.call.str());
  else
    append_members(out, blob);
  append_member(out, "name", call.name);
  append_member(out, "arguments", sendable_arguments(call.arguments));
  out += '}';
}

void append_result(std::string& out, const tool_result_part& answer, const blob_view& blob) {
  out.append(R"(,{"type":"function_call_output")");
  append_member(out, "call_id", call_id_of(blob, answer.call));
  append_member(out, "output", answer.text);
  out += '}';
}

void append_data_item(std::string& out, const data_part& data) {
  if (data.mime_type.starts_with("image/")) {
    out.append(R"({"type":"input_image")");
    append_member(out, "image_url", data_url(data));
  } else if (data.uri.empty()) {
    out.append(R"({"type":"input_file")");
    append_member(out, "filename", file_name(data.mime_type));
    append_member(out, "file_data", data_url(data));
  } else {
    out.append(R"({"type":"input_file")");
    append_member(out, "file_url", data.uri);
  }
  out += '}';
}

// What a person says, or a tool shows.
void append_user(std::string& out, const content& c) {
  std::string items;
  for (const auto& p : c.parts) {
    const auto* text = std::get_if<text_part>(&p.value);
    const auto* data = std::get_if<data_part>(&p.value);
    if (data == nullptr && (text == nullptr || text->text.empty()))
      continue;
    items.append(items.empty() ? "" : ",");
    if (data != nullptr) {
      append_data_item(items, *data);
      continue;
    }
    items.append(R"({"type":"input_text")");
    append_member(items, "text", text->text);
    items += '}';
  }
  if (!items.empty())
    out.append(R"(,{"role":"user","content":[)").append(items).append("]}");
}

void append_model_part(std::string& out, const part& p) {
  blob_view blob(p.blob.str(), protocol);
  if (auto item = blob.raw("item"); !item.empty())
    out.append(1, ',').append(item);
  else if (const auto* text = std::get_if<text_part>(&p.value))
    append_said(out, *text, blob);
  else if (const auto* call = std::get_if<tool_call_part>(&p.value))
    append_call(out, *call, blob);
}

void append_tools(std::string& out, const std::vector<tool_declaration>& tools) {
  out.append(R"("tools":[)");
  for (const auto& tool : tools) {
    out.append(&tool == tools.data() ? "" : ",").append(R"({"type":"function")");
    append_member(out, "name", tool.name);
    append_member(out, "description", tool.description);
    append_key(out, "parameters");
    if (tool.parameters.is_object())
      append_json_value(out, tool.parameters);
    else
      out.append("null");
    out.append(R"(,"strict":false})"); // the service's default would want schemas of its own kind
  }
  out.append("],");
}

std::string encode_head(const prompt_head& head) {
  std::string out = "{";
  if (!head.tools.empty())
    append_tools(out, head.tools);
  if (!head.system.empty()) {
    out.append(R"("instructions":)");
    append_json_string(out, head.system);
    out += ',';
  }
  out.append(R"("input":[)");
  return out;
}

void append_function(std::string& out, const std::string& name) {
  out.append(R"({"type":"function")");
  append_member(out, "name", name);
  out += '}';
}

bool wants_encrypted(const model_request& request, const openai_responses_options& options) {
  if (options.encrypted != encrypted_reasoning::by_model)
    return options.encrypted == encrypted_reasoning::always;
  for (std::string_view family : {"gpt-3", "gpt-4", "chatgpt-4"})
    if (request.model.starts_with(family))
      return false;
  return true;
}

void append_reasoning(std::string& out, const model_request& request,
                      const openai_responses_options& options) {
  if (request.thinking == thinking_level::automatic)
    return;
  bool off = request.thinking == thinking_level::off;
  std::string config;
  if (auto word = off ? std::string_view(options.effort_off) : effort_word(request.thinking); !word.empty())
    append_member(config, "effort", word);
  if (!off && !options.summary_kind.empty())
    append_member(config, "summary", options.summary_kind);
  if (!config.empty())
    out.append(R"(,"reasoning":{)").append(config).append("}");
}

void append_schema(std::string& out, const nlohmann::json& schema, bool strict) {
  out.append(R"(,"text":{"format":{"type":"json_schema","name":"answer","schema":)");
  append_json_value(out, schema);
  out.append(strict ? R"(,"strict":true}})" : R"(,"strict":false}})");
}

std::string encode_settings(const model_request& request, const openai_responses_options& options) {
  std::string out = "]";
  append_member(out, "model", request.model);
  append_openai_choice(out, request, append_function,
                       R"({"type":"allowed_tools","mode":"required","tools":[)", "]}");
  append_count(out, "max_output_tokens", request.max_output_tokens);
  append_temperature(out, request.temperature);
  append_reasoning(out, request, options);
  if (request.output_schema)
    append_schema(out, *request.output_schema, options.strict_schema);
  if (wants_encrypted(request, options))
    out.append(R"(,"include":["reasoning.encrypted_content"])");
  out.append(R"(,"store":false)");
  if (request.stream)
    out.append(R"(,"stream":true)");
  append_extra(out, options.extra_body);
  out += '}';
  return out;
}

} // namespace

std::string encode_openai_responses_content(const content& c) {
  std::string out;
  out.reserve(room_for(c));
  for (const auto& p : c.parts)
    if (const auto* answer = std::get_if<tool_result_part>(&p.value))
      append_result(out, *answer, blob_view(p.blob.str(), protocol));
  if (c.role != role::model) {
    append_user(out, c);
    return out;
  }
  for (const auto& p : c.parts)
    append_model_part(out, p);
  return out;
}

std::vector<body_piece> encode_openai_responses_request(const model_request& request,
                                                        const openai_responses_options& options) {
  const auto& head = *request.head;
  request_pieces pieces(head.encoded.get(&head_form, [&] { return encode_head(head); }), false,
                        request.contents.size());
  pieces.add_contents(request.contents, &content_form, encode_openai_responses_content);
  if (!request.reminder.empty())
    pieces.add(encode_openai_responses_content(make_text(role::user, request.reminder)));
  return pieces.finish(encode_settings(request, options));
}

} // namespace troupe::net
