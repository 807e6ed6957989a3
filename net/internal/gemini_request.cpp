// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/gemini_request.hpp>
#include <troupe/net/internal/gemini_schema.hpp>
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/part_blob.hpp>
#include <troupe/net/internal/request_text.hpp>

#include <charconv>

namespace troupe::net {

namespace {

// Their addresses name the protocol in the slots for encoded forms.
constexpr char content_form = 0;
constexpr char head_forms[2] = {}; // with JSON Schema, with the subset

constexpr std::string_view protocol = "gemini";

// What the service takes in place of a signature, for calls that it has not made itself (Google's guide to
// thought signatures).
constexpr std::string_view no_signature = R"("skip_thought_signature_validator")";

void append_signature(std::string& out, const blob_view& blob) {
  if (auto signature = blob.raw("thoughtSignature"); !signature.empty())
    out.append(R"(,"thoughtSignature":)").append(signature);
}

void append_text(std::string& out, std::string_view text, const blob_view& blob, bool thought) {
  bool is_signed = !blob.raw("thoughtSignature").empty();
  // Thoughts without a signature are for people.
  if (!is_signed && (thought || text.empty()))
    return;
  out.append(R"({"text":)");
  append_json_string(out, text);
  if (thought)
    out.append(R"(,"thought":true)");
  append_signature(out, blob);
  out += '}';
}

// The service's own id, if it has given one, and the tool's name.
void append_identity(std::string& out, std::string_view name, const blob_view& blob) {
  if (auto id = blob.text("id"); !id.empty())
    append_member(out, "id", id);
  append_member(out, "name", name);
}

void append_call(std::string& out, const tool_call_part& call, const blob_view& blob, bool first_call) {
  out.append(R"({"functionCall":{)");
  append_identity(out, call.name, blob);
  append_key(out, "args");
  out.append(object_arguments(call.arguments)).append("}");
  append_signature(out, blob);
  if (!blob && first_call)
    out.append(R"(,"thoughtSignature":)").append(no_signature);
  out += '}';
}

// The answer is an object: the tool's own if it gave one.
void append_result(std::string& out, const tool_result_part& answer, const blob_view& blob) {
  out.append(R"({"functionResponse":{)");
  append_identity(out, answer.name, blob);
  append_key(out, "response");
  if (!answer.is_error && is_json_object(answer.text)) {
    out.append(answer.text);
  } else {
    out += '{';
    append_member(out, answer.is_error ? "error" : "output", answer.text);
    out += '}';
  }
  out.append("}}");
}

void append_data(std::string& out, const data_part& data) {
  bool bytes = data.uri.empty();
  out.append(bytes ? R"({"inlineData":{)" : R"({"fileData":{)");
  append_member(out, "mimeType", data.mime_type);
  append_member(out, bytes ? "data" : "fileUri", bytes ? data.base64 : data.uri);
  out.append("}}");
}

void append_part(std::string& out, const part& p, bool& first_call) {
  blob_view blob(p.blob.str(), protocol);
  if (auto item = blob.raw("item"); !item.empty()) {
    out.append(item);
  } else if (const auto* text = std::get_if<text_part>(&p.value)) {
    append_text(out, text->text, blob, false);
  } else if (const auto* thought = std::get_if<thought_part>(&p.value)) {
    append_text(out, thought->text, blob, true);
  } else if (const auto* call = std::get_if<tool_call_part>(&p.value)) {
    append_call(out, *call, blob, std::exchange(first_call, false));
  } else if (const auto* answer = std::get_if<tool_result_part>(&p.value)) {
    append_result(out, *answer, blob);
  } else if (const auto* data = std::get_if<data_part>(&p.value)) {
    append_data(out, *data);
  }
}

void append_declaration(std::string& out, const tool_declaration& tool, bool subset) {
  out += '{';
  append_member(out, "name", tool.name);
  append_member(out, "description", tool.description);
  if (tool.parameters.is_object()) {
    append_key(out, subset ? "parameters" : "parametersJsonSchema");
    append_json_value(out, subset ? to_gemini_schema(tool.parameters) : tool.parameters);
  }
  out += '}';
}

std::string encode_head(const prompt_head& head, bool subset) {
  std::string out = "{";
  if (!head.tools.empty()) {
    out.append(R"("tools":[{"functionDeclarations":[)");
    append_list(out, head.tools, [&](std::string& text, const tool_declaration& tool) {
      append_declaration(text, tool, subset);
    });
    out.append("]}],");
  }
  if (!head.system.empty()) {
    out.append(R"("systemInstruction":{"parts":[{"text":)");
    append_json_string(out, head.system);
    out.append("}]},");
  }
  out.append(R"("contents":[)");
  return out;
}

void append_choice(std::string& out, const model_request& request) {
  if (!offers_tools(request) || request.choice == tool_choice::automatic)
    return;
  out.append(R"(,"toolConfig":{"functionCallingConfig":{"mode":)");
  out.append(request.choice == tool_choice::none ? R"("NONE")" : R"("ANY")");
  if (request.choice == tool_choice::required && !request.required_tools.empty()) {
    out.append(R"(,"allowedFunctionNames":[)");
    append_list(out, request.required_tools, append_json_string);
    out += ']';
  }
  out.append("}}");
}

std::string_view level_word(const model_request& request) {
  switch (request.thinking) {
  case thinking_level::low:
    return "LOW";
  case thinking_level::medium:
    return "MEDIUM";
  case thinking_level::high:
    return "HIGH";
  case thinking_level::automatic:
  case thinking_level::off:
    break;
  }
  // Only the flash models can do with almost none.
  return request.model.find("flash") != std::string::npos ? "MINIMAL" : "LOW";
}

// From version 3 on a level; before, a number of tokens, of which pro models want some.
void append_thinking(std::string& out, const model_request& request, const gemini_options& options) {
  auto version = gemini_version(request.model);
  bool off = request.thinking == thinking_level::off;
  bool automatic = request.thinking == thinking_level::automatic;
  if (version < 2.5 || (automatic && !options.include_thoughts))
    return;
  std::string config;
  if (!automatic && version >= 3) {
    append_member(config, "thinkingLevel", level_word(request));
  } else if (!automatic) {
    bool pro = request.model.find("pro") != std::string::npos;
    append_key(config, "thinkingBudget");
    config.append(std::to_string(off ? (pro ? 128 : 0) : options.budgets.of(request.thinking)));
  }
  if (!off) {
    append_key(config, "includeThoughts");
    config.append("true");
  }
  append_key(out, "thinkingConfig");
  out.append(1, '{').append(config).append("}");
}

// Models before version 3 refuse a schema for the answer beside tools.
void append_schema(std::string& out, const model_request& request, const gemini_options& options) {
  bool calls = offers_tools(request) && request.choice != tool_choice::none;
  if (!request.output_schema || (calls && gemini_version(request.model) < 3))
    return;
  append_member(out, "responseMimeType", "application/json");
  append_key(out, options.schema_subset ? "responseSchema" : "responseJsonSchema");
  append_json_value(out, options.schema_subset ? to_gemini_schema(*request.output_schema)
                                               : *request.output_schema);
}

std::string encode_settings(const model_request& request, const gemini_options& options) {
  std::string config;
  append_count(config, "maxOutputTokens", request.max_output_tokens);
  append_temperature(config, request.temperature);
  append_schema(config, request, options);
  append_thinking(config, request, options);
  append_extra(config, options.extra_config);
  std::string out = "]";
  append_choice(out, request);
  if (!config.empty())
    out.append(R"(,"generationConfig":{)").append(config).append("}");
  append_extra(out, options.extra_body);
  out += '}';
  return out;
}

void append_path(std::string& out, std::string_view text) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/@:";
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (plain.find(c) != std::string_view::npos)
      out += c;
    else
      out.append({'%', digits[byte >> 4U], digits[byte & 15U]});
  }
}

} // namespace

double gemini_version(std::string_view model) noexcept {
  constexpr std::string_view family = "gemini-";
  constexpr double newest = 3;
  auto at = model.find(family);
  if (at == std::string_view::npos)
    return newest;
  model.remove_prefix(at + family.size());
  double version = newest;
  auto [end, error] =
      std::from_chars(model.data(), model.data() + model.size(), version, std::chars_format::fixed);
  return error == std::errc{} ? version : newest;
}

std::string gemini_target(const model_request& request) {
  std::string out = request.model.find('/') == std::string::npos ? "/models/" : "/";
  append_path(out, request.model);
  return out.append(request.stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
}

std::string encode_gemini_content(const content& c) {
  message_writer out(c.role == role::model ? R"(,{"role":"model","parts":[)" : R"(,{"role":"user","parts":[)",
                     room_for(c));
  bool first_call = true;
  for (const auto& p : c.parts)
    out.add([&](std::string& text) { append_part(text, p, first_call); });
  return out.finish();
}

std::vector<body_piece> encode_gemini_request(const model_request& request, const gemini_options& options) {
  const auto& head = *request.head;
  const bool subset = options.schema_subset;
  request_pieces pieces(
      head.encoded.get(&head_forms[subset ? 1 : 0], [&] { return encode_head(head, subset); }), false,
      request.contents.size());
  pieces.add_contents(request.contents, &content_form, encode_gemini_content);
  if (!request.reminder.empty())
    pieces.add(encode_gemini_content(make_text(role::user, request.reminder)));
  return pieces.finish(encode_settings(request, options));
}

} // namespace troupe::net
