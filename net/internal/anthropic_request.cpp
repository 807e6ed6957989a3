// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/anthropic_request.hpp>
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/part_blob.hpp>
#include <troupe/net/internal/request_text.hpp>
#include <troupe/runtime/base64.hpp>

#include <algorithm>
#include <charconv>

namespace troupe::net {

namespace {

// Their addresses name the protocol in the slots for encoded forms.
constexpr char content_form = 0;
constexpr char head_forms[2] = {}; // without and with the cache's mark

constexpr std::string_view cache_mark = R"("cache_control":{"type":"ephemeral"})";
constexpr std::string_view protocol = "anthropic";
constexpr std::uint32_t least_budget = 1024; // the API's

void append_text_block(std::string& out, std::string_view text) {
  out.append(R"({"type":"text","text":)");
  append_json_string(out, text);
  out += '}';
}

void append_source(std::string& out, const data_part& data) {
  if (!data.uri.empty()) {
    out.append(R"({"type":"url","url":)");
    append_json_string(out, data.uri);
  } else if (auto text = data.mime_type.starts_with("text/") ? decode_base64(data.base64) : std::nullopt) {
    out.append(R"({"type":"text","media_type":"text/plain","data":)");
    append_json_string(out, *text);
  } else {
    out.append(R"({"type":"base64","media_type":)");
    append_json_string(out, data.mime_type);
    append_member(out, "data", data.base64);
  }
  out += '}';
}

// Pictures, and documents by their bytes or address; the address of anything else is told as text.
void append_data_block(std::string& out, const data_part& data) {
  bool image = data.mime_type.starts_with("image/");
  if (!image && !data.uri.empty() && data.mime_type != "application/pdf")
    return append_text_block(out, data.uri);
  out.append(image ? R"({"type":"image","source":)" : R"({"type":"document","source":)");
  append_source(out, data);
  out += '}';
}

void append_thought(std::string& out, const part& p, const thought_part& thought) {
  blob_view blob(p.blob.str(), protocol);
  if (auto item = blob.raw("item"); !item.empty()) {
    out.append(item);
  } else if (auto signature = blob.raw("signature"); !signature.empty()) {
    out.append(R"({"type":"thinking","thinking":)");
    append_json_string(out, thought.text);
    out.append(R"(,"signature":)").append(signature).append("}");
  }
}

void append_text(std::string& out, const part& p, const text_part& text) {
  blob_view blob(p.blob.str(), protocol);
  if (auto item = blob.raw("item"); !item.empty()) {
    out.append(item);
  } else if (!is_blank(text.text)) {
    append_text_block(out, text.text);
    if (auto citations = blob.raw("citations"); !citations.empty()) {
      out.pop_back();
      out.append(R"(,"citations":)").append(citations).append("}");
    }
  }
}

std::string call_id_of(const blob_view& blob, const call_id& ours) {
  auto id = blob.text("id");
  return id.empty() ? ours.str() : id;
}

void append_call(std::string& out, const part& p, const tool_call_part& call) {
  blob_view blob(p.blob.str(), protocol);
  out.append(R"({"type":"tool_use")");
  append_member(out, "id", call_id_of(blob, call.call));
  append_member(out, "name", call.name);
  append_key(out, "input");
  out.append(object_arguments(call.arguments));
  for (const auto& [key, value] : blob.members()) {
    if (key != "id")
      append_foreign_member(out, key, value);
  }
  out += '}';
}

void append_result(std::string& out, const part& p, const tool_result_part& answer) {
  out.append(R"({"type":"tool_result")");
  append_member(out, "tool_use_id", call_id_of(blob_view(p.blob.str(), protocol), answer.call));
  if (!answer.text.empty())
    append_member(out, "content", answer.text);
  out.append(answer.is_error ? R"(,"is_error":true})" : "}");
}

void append_block(std::string& out, const part& p) {
  if (const auto* text = std::get_if<text_part>(&p.value))
    append_text(out, p, *text);
  else if (const auto* thought = std::get_if<thought_part>(&p.value))
    append_thought(out, p, *thought);
  else if (const auto* call = std::get_if<tool_call_part>(&p.value))
    append_call(out, p, *call);
  else if (const auto* answer = std::get_if<tool_result_part>(&p.value))
    append_result(out, p, *answer);
  else if (const auto* data = std::get_if<data_part>(&p.value))
    append_data_block(out, *data);
}

void append_tools(std::string& out, const std::vector<tool_declaration>& tools, bool marked) {
  out.append(R"("tools":[)");
  for (const auto& tool : tools) {
    out.append(&tool == tools.data() ? "{" : ",{");
    append_member(out, "name", tool.name);
    append_member(out, "description", tool.description);
    append_key(out, "input_schema");
    if (tool.parameters.is_object())
      append_json_value(out, tool.parameters);
    else
      out.append(R"({"type":"object"})");
    if (marked && &tool == &tools.back())
      out.append(1, ',').append(cache_mark);
    out += '}';
  }
  out.append("],");
}

// The mark stands on the last block of what stays the same, and counts for all before it.
std::string encode_head(const prompt_head& head, bool marked) {
  std::string out = "{";
  if (!head.tools.empty())
    append_tools(out, head.tools, marked && is_blank(head.system));
  if (!is_blank(head.system)) {
    out.append(R"("system":[)");
    append_text_block(out, head.system);
    if (marked) {
      out.pop_back();
      out.append(1, ',').append(cache_mark).append("}");
    }
    out.append("],");
  }
  out.append(R"("messages":[)");
  return out;
}

// The service wants every object closed.
void close_objects(nlohmann::json& schema) {
  if (schema.is_object() && schema.value("type", nlohmann::json{}) == "object" &&
      !schema.contains("additionalProperties"))
    schema["additionalProperties"] = false;
  if (schema.is_structured())
    for (auto& inner : schema)
      close_objects(inner);
}

struct thinking_setting {
  std::uint32_t budget = 0; // 0 when there is none
  bool adaptive = false;
  [[nodiscard]] bool on() const noexcept { return adaptive || budget > 0; }
};

thinking_setting find_thinking(const model_request& request, const anthropic_options& options) {
  thinking_setting out;
  auto wanted = options.budgets.of(request.thinking);
  if (wanted == 0)
    return out;
  out.adaptive = options.thinking == anthropic_thinking::adaptive ||
                 (options.thinking == anthropic_thinking::by_model && thinks_adaptively(request.model));
  // With a budget a model must not think when it is made to call a tool.
  if (out.adaptive || (offers_tools(request) && request.choice == tool_choice::required))
    return out;
  // What is allowed for the answer holds for the thinking too.
  out.budget = request.max_output_tokens ? std::min(wanted, *request.max_output_tokens / 2) : wanted;
  if (out.budget < least_budget)
    out.budget = 0;
  return out;
}

void append_thinking(std::string& out, const model_request& request, const thinking_setting& thinking) {
  if (thinking.adaptive)
    out.append(R"(,"thinking":{"type":"adaptive","display":"summarized"})");
  else if (thinking.budget > 0)
    out.append(R"(,"thinking":{"type":"enabled","budget_tokens":)")
        .append(std::to_string(thinking.budget))
        .append("}");
  else if (request.thinking == thinking_level::off)
    out.append(R"(,"thinking":{"type":"disabled"})");
}

void append_output_config(std::string& out, const model_request& request, const thinking_setting& thinking) {
  std::string config;
  if (thinking.adaptive)
    append_member(config, "effort", effort_word(request.thinking));
  if (request.output_schema) {
    auto schema = *request.output_schema;
    close_objects(schema);
    append_key(config, "format");
    config.append(R"({"type":"json_schema","schema":)");
    append_json_value(config, schema);
    config += '}';
  }
  if (!config.empty())
    out.append(R"(,"output_config":{)").append(config).append("}");
}

void append_choice(std::string& out, const model_request& request) {
  if (!offers_tools(request) || request.choice == tool_choice::automatic)
    return;
  append_key(out, "tool_choice");
  if (request.choice == tool_choice::none) {
    out.append(R"({"type":"none"})");
  } else if (request.required_tools.size() == 1) {
    out.append(R"({"type":"tool")");
    append_member(out, "name", request.required_tools.front());
    out += '}';
  } else {
    out.append(R"({"type":"any"})");
  }
}

std::string encode_settings(const model_request& request, const anthropic_options& options) {
  auto thinking = find_thinking(request, options);
  std::string out = "]";
  append_member(out, "model", request.model);
  append_count(out, "max_tokens",
               request.max_output_tokens.value_or(options.default_max_tokens + thinking.budget));
  append_choice(out, request);
  append_thinking(out, request, thinking);
  append_output_config(out, request, thinking);
  if (!thinking.on())
    append_temperature(out, request.temperature);
  if (options.cache == anthropic_cache::conversation)
    out.append(1, ',').append(cache_mark);
  if (request.stream)
    out.append(R"(,"stream":true)");
  append_extra(out, options.extra_body);
  out += '}';
  return out;
}

} // namespace

bool thinks_adaptively(std::string_view model) noexcept {
  int version[2] = {-1, -1};
  std::size_t known = 0;
  while (!model.empty() && known < 2) {
    auto word = model.substr(0, model.find('-'));
    model.remove_prefix(std::min(model.size(), word.size() + 1));
    int number = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    // A longer number is a date.
    bool is_number = error == std::errc{} && end == word.data() + word.size() && word.size() <= 2;
    if (is_number)
      version[known++] = number;
    else if (known == 1)
      break;
  }
  return version[0] > 4 || (version[0] == 4 && version[1] >= 6);
}

std::string encode_anthropic_content(const content& c) {
  message_writer out(c.role == role::model ? R"(,{"role":"assistant","content":[)"
                                           : R"(,{"role":"user","content":[)",
                     room_for(c));
  // Results come first, whatever else a tool has shown.
  for (bool results : {true, false})
    for (const auto& p : c.parts)
      if (std::holds_alternative<tool_result_part>(p.value) == results)
        out.add([&](std::string& text) { append_block(text, p); });
  return out.finish();
}

std::vector<body_piece> encode_anthropic_request(const model_request& request,
                                                 const anthropic_options& options, const std::string& extra) {
  bool marked = options.cache != anthropic_cache::none;
  const auto& head = *request.head;
  request_pieces pieces(
      head.encoded.get(&head_forms[marked ? 1 : 0], [&] { return encode_head(head, marked); }), false,
      request.contents.size());
  pieces.add_contents(request.contents, &content_form, encode_anthropic_content);
  if (!request.reminder.empty())
    pieces.add(encode_anthropic_content(make_text(role::user, request.reminder)));
  pieces.add(extra);
  return pieces.finish(encode_settings(request, options));
}

} // namespace troupe::net
