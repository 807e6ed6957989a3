// SPDX-License-Identifier: Apache-2.0
#include "support/fake_services.hpp"

#include <string_view>

namespace troupe::test {

namespace {

using nlohmann::json;

std::string_view path_of(const seen_request& request) {
  auto head = std::string_view(request.head);
  auto begin = head.find(' ') + 1;
  return head.substr(begin, head.find(' ', begin) - begin);
}

std::string id_of(std::size_t index) {
  return "id_" + std::to_string(index);
}

std::string sse(const json& data, std::string_view name = {}) {
  std::string out;
  if (!name.empty())
    out.append("event: ").append(name).append("\n");
  return out.append("data: ").append(data.dump()).append("\n\n");
}

// Two pieces, so that clients have to join them.
std::vector<std::string> halves(const std::string& text) {
  return {text.substr(0, text.size() / 2), text.substr(text.size() / 2)};
}

// Chat Completions.

const json chat_usage{{"prompt_tokens", 10},
                      {"completion_tokens", 5},
                      {"total_tokens", 15},
                      {"prompt_tokens_details", {{"cached_tokens", 4}}},
                      {"completion_tokens_details", {{"reasoning_tokens", 2}}}};

json chat_object(const char* kind, json choices) {
  return {
      {"id", "chat_1"}, {"object", kind}, {"created", 1}, {"model", "m"}, {"choices", std::move(choices)}};
}

json chat_call(const fake_call& call, std::size_t index) {
  return {{"id", id_of(index)},
          {"type", "function"},
          {"function", {{"name", call.name}, {"arguments", call.arguments.dump()}}}};
}

json chat_whole(const fake_answer& said) {
  json message{{"role", "assistant"}, {"content", said.text}, {"refusal", nullptr}};
  if (!said.thought.empty())
    message["reasoning_content"] = said.thought;
  for (std::size_t i = 0; i < said.calls.size(); ++i)
    message["tool_calls"].push_back(chat_call(said.calls[i], i));
  auto out =
      chat_object("chat.completion", {{{"index", 0},
                                       {"message", std::move(message)},
                                       {"logprobs", nullptr},
                                       {"finish_reason", said.calls.empty() ? "stop" : "tool_calls"}}});
  out["usage"] = chat_usage;
  return out;
}

std::string chat_stream(const fake_answer& said) {
  std::string out;
  auto chunk = [&](json delta, json finish) {
    out +=
        sse(chat_object("chat.completion.chunk",
                        {{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}}}));
  };
  chunk({{"role", "assistant"}, {"content", ""}}, nullptr);
  for (const auto& piece : halves(said.thought))
    chunk({{"reasoning_content", piece}}, nullptr);
  for (const auto& piece : halves(said.text))
    chunk({{"content", piece}}, nullptr);
  for (std::size_t i = 0; i < said.calls.size(); ++i) {
    auto call = chat_call(said.calls[i], i);
    const auto pieces = halves(call["function"]["arguments"]);
    call["index"] = i;
    call["function"]["arguments"] = pieces[0];
    chunk({{"tool_calls", {call}}}, nullptr);
    chunk({{"tool_calls", {{{"index", i}, {"function", {{"arguments", pieces[1]}}}}}}}, nullptr);
  }
  chunk(json::object(), said.calls.empty() ? "stop" : "tool_calls");
  auto last = chat_object("chat.completion.chunk", json::array());
  last["usage"] = chat_usage;
  return out + sse(last) + "data: [DONE]\n\n";
}

// Responses.

json response_items(const fake_answer& said) {
  json items = json::array();
  if (!said.thought.empty())
    items.push_back({{"id", "rs_1"},
                     {"type", "reasoning"},
                     {"summary", {{{"type", "summary_text"}, {"text", said.thought}}}},
                     {"encrypted_content", "secret"}});
  if (!said.text.empty())
    items.push_back(
        {{"id", "msg_1"},
         {"type", "message"},
         {"status", "completed"},
         {"role", "assistant"},
         {"content", {{{"type", "output_text"}, {"text", said.text}, {"annotations", json::array()}}}}});
  for (std::size_t i = 0; i < said.calls.size(); ++i)
    items.push_back({{"id", "fc_" + std::to_string(i)},
                     {"type", "function_call"},
                     {"status", "completed"},
                     {"call_id", id_of(i)},
                     {"name", said.calls[i].name},
                     {"arguments", said.calls[i].arguments.dump()}});
  return items;
}

json response_object(const char* status, json items) {
  return {{"id", "resp_1"},
          {"object", "response"},
          {"created_at", 1},
          {"status", status},
          {"error", nullptr},
          {"incomplete_details", nullptr},
          {"instructions", nullptr},
          {"model", "m"},
          {"output", std::move(items)},
          {"parallel_tool_calls", true},
          {"tool_choice", "auto"},
          {"tools", json::array()},
          {"usage",
           {{"input_tokens", 10},
            {"input_tokens_details", {{"cached_tokens", 4}}},
            {"output_tokens", 5},
            {"output_tokens_details", {{"reasoning_tokens", 2}}},
            {"total_tokens", 15}}}};
}

class response_stream {
 public:
  explicit response_stream(const fake_answer& said) : items_(response_items(said)) {
    send("response.created", {{"response", response_object("in_progress", json::array())}});
    for (std::size_t i = 0; i < items_.size(); ++i)
      send_item(items_[i], i);
    send("response.completed", {{"response", response_object("completed", items_)}});
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  void send(const char* type, json event) {
    event["type"] = type;
    event["sequence_number"] = number_++;
    out_ += sse(event, type);
  }

  void send_item(const json& item, std::size_t index) {
    auto empty = item;
    const auto type = item["type"].get<std::string>();
    if (type == "function_call")
      empty["arguments"] = "";
    else
      empty[type == "message" ? "content" : "summary"] = json::array();
    send("response.output_item.added", {{"output_index", index}, {"item", empty}});
    if (type == "function_call")
      send_arguments(item, index);
    else if (type == "message")
      send_text(item, index);
    else
      send_summary(item, index);
    send("response.output_item.done", {{"output_index", index}, {"item", item}});
  }

  void send_arguments(const json& item, std::size_t index) {
    for (const auto& piece : halves(item["arguments"]))
      send("response.function_call_arguments.delta",
           {{"item_id", item["id"]}, {"output_index", index}, {"delta", piece}});
    send("response.function_call_arguments.done",
         {{"item_id", item["id"]}, {"output_index", index}, {"arguments", item["arguments"]}});
  }

  void send_text(const json& item, std::size_t index) {
    json at{{"item_id", item["id"]}, {"output_index", index}, {"content_index", 0}};
    auto with = [&](const char* key, json value) {
      auto out = at;
      out[key] = std::move(value);
      return out;
    };
    auto part = item["content"][0];
    part["text"] = "";
    send("response.content_part.added", with("part", part));
    for (const auto& piece : halves(item["content"][0]["text"]))
      send("response.output_text.delta", with("delta", piece));
    send("response.output_text.done", with("text", item["content"][0]["text"]));
    send("response.content_part.done", with("part", item["content"][0]));
  }

  void send_summary(const json& item, std::size_t index) {
    json at{{"item_id", item["id"]}, {"output_index", index}, {"summary_index", 0}};
    auto part = at;
    part["part"] = {{"type", "summary_text"}, {"text", ""}};
    send("response.reasoning_summary_part.added", part);
    for (const auto& piece : halves(item["summary"][0]["text"])) {
      auto delta = at;
      delta["delta"] = piece;
      send("response.reasoning_summary_text.delta", delta);
    }
    part["part"] = item["summary"][0];
    send("response.reasoning_summary_part.done", part);
  }

  json items_;
  std::string out_;
  int number_ = 0;
};

// Messages.

json message_blocks(const fake_answer& said) {
  json blocks = json::array();
  if (!said.thought.empty())
    blocks.push_back({{"type", "thinking"}, {"thinking", said.thought}, {"signature", "signed"}});
  if (!said.text.empty())
    blocks.push_back({{"type", "text"}, {"text", said.text}, {"citations", nullptr}});
  for (std::size_t i = 0; i < said.calls.size(); ++i)
    blocks.push_back({{"type", "tool_use"},
                      {"id", id_of(i)},
                      {"name", said.calls[i].name},
                      {"input", said.calls[i].arguments}});
  return blocks;
}

json message_object(json blocks, json stop_reason) {
  return {{"id", "msg_1"},
          {"type", "message"},
          {"role", "assistant"},
          {"model", "m"},
          {"content", std::move(blocks)},
          {"stop_reason", std::move(stop_reason)},
          {"stop_sequence", nullptr},
          {"usage",
           {{"input_tokens", 5},
            {"cache_creation_input_tokens", 1},
            {"cache_read_input_tokens", 4},
            {"output_tokens", 5},
            {"output_tokens_details", {{"thinking_tokens", 2}}}}}};
}

std::string block_events(const json& block, std::size_t index) {
  std::string out;
  auto send = [&](const char* type, json event) {
    event["type"] = type;
    event["index"] = index;
    out += sse(event, type);
  };
  auto delta = [&](const char* type, const char* key, const std::string& text) {
    send("content_block_delta", {{"delta", {{"type", type}, {key, text}}}});
  };
  auto start = block;
  const auto type = block["type"].get<std::string>();
  if (type == "tool_use")
    start["input"] = json::object();
  else
    start[type] = "";
  if (type == "thinking")
    start["signature"] = "";
  send("content_block_start", {{"content_block", start}});
  for (const auto& piece :
       halves(type == "tool_use" ? block["input"].dump() : block[type].get<std::string>())) {
    if (type == "tool_use")
      delta("input_json_delta", "partial_json", piece);
    else
      delta(type == "thinking" ? "thinking_delta" : "text_delta", type.c_str(), piece);
  }
  if (type == "thinking")
    delta("signature_delta", "signature", block["signature"]);
  send("content_block_stop", json::object());
  return out;
}

std::string message_stream(const fake_answer& said) {
  const auto blocks = message_blocks(said);
  auto out =
      sse({{"type", "message_start"}, {"message", message_object(json::array(), nullptr)}}, "message_start");
  out += sse({{"type", "ping"}}, "ping");
  for (std::size_t i = 0; i < blocks.size(); ++i)
    out += block_events(blocks[i], i);
  out += sse(
      {{"type", "message_delta"},
       {"delta", {{"stop_reason", said.calls.empty() ? "end_turn" : "tool_use"}, {"stop_sequence", nullptr}}},
       {"usage", message_object({}, nullptr)["usage"]}},
      "message_delta");
  return out + sse({{"type", "message_stop"}}, "message_stop");
}

// generateContent.

json gemini_object(json parts, bool last) {
  json candidate{{"content", {{"role", "model"}, {"parts", std::move(parts)}}}, {"index", 0}};
  if (last)
    candidate["finishReason"] = "STOP";
  return {{"candidates", {candidate}},
          {"usageMetadata",
           {{"promptTokenCount", 10},
            {"cachedContentTokenCount", 4},
            {"candidatesTokenCount", 3},
            {"thoughtsTokenCount", 2},
            {"totalTokenCount", 15}}},
          {"modelVersion", "m"}};
}

std::vector<json> gemini_parts(const fake_answer& said, bool cut) {
  std::vector<json> parts;
  auto add = [&](const std::string& text, json part) {
    for (const auto& piece : cut ? halves(text) : std::vector<std::string>{text}) {
      part["text"] = piece;
      parts.push_back(part);
    }
  };
  if (!said.thought.empty())
    add(said.thought, {{"thought", true}});
  if (!said.text.empty())
    add(said.text, json::object());
  for (std::size_t i = 0; i < said.calls.size(); ++i) {
    json part{{"functionCall",
               {{"id", id_of(i)}, {"name", said.calls[i].name}, {"args", said.calls[i].arguments}}}};
    if (i == 0)
      part["thoughtSignature"] = "c2lnbmVk";
    parts.push_back(std::move(part));
  }
  return parts;
}

std::string gemini_stream(const fake_answer& said) {
  std::string out;
  const auto parts = gemini_parts(said, true);
  for (std::size_t i = 0; i < parts.size(); ++i)
    out += sse(gemini_object({parts[i]}, i + 1 == parts.size()));
  return out;
}

std::string whole_body(fake_api api, const fake_answer& said) {
  switch (api) {
  case fake_api::responses:
    return response_object("completed", response_items(said)).dump();
  case fake_api::messages:
    return message_object(message_blocks(said), said.calls.empty() ? "end_turn" : "tool_use").dump();
  case fake_api::gemini:
    return gemini_object(gemini_parts(said, false), true).dump();
  case fake_api::chat:
    break;
  }
  return chat_whole(said).dump();
}

std::string stream_body(fake_api api, const fake_answer& said) {
  switch (api) {
  case fake_api::responses:
    return response_stream(said).text();
  case fake_api::messages:
    return message_stream(said);
  case fake_api::gemini:
    return gemini_stream(said);
  case fake_api::chat:
    break;
  }
  return chat_stream(said);
}

} // namespace

fake_api api_of(const seen_request& request) {
  const auto path = path_of(request);
  if (path.find("enerateContent") != std::string_view::npos)
    return fake_api::gemini;
  if (path.find("/messages") != std::string_view::npos)
    return fake_api::messages;
  return path.find("/responses") != std::string_view::npos ? fake_api::responses : fake_api::chat;
}

bool wants_stream(const seen_request& request) {
  if (api_of(request) == fake_api::gemini)
    return path_of(request).find(":streamGenerateContent") != std::string_view::npos;
  return json::parse(request.body).value("stream", false);
}

scripted_reply fake_reply(const seen_request& request, const fake_answer& said) {
  const auto api = api_of(request);
  return wants_stream(request) ? answer(200, stream_body(api, said), "text/event-stream")
                               : answer(200, whole_body(api, said));
}

} // namespace troupe::test
