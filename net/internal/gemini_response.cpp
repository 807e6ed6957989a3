// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/gemini_response.hpp>
#include <troupe/net/internal/part_blob.hpp>
#include <troupe/net/internal/raw_object.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe::net {

namespace {

constexpr std::string_view protocol = "gemini";

finish_reason finish_from(std::string_view word) {
  constexpr std::string_view filters[] = {"SAFETY",       "RECITATION",       "BLOCKLIST",
                                          "SPII",         "MODEL_ARMOR",      "PROHIBITED_CONTENT",
                                          "IMAGE_SAFETY", "IMAGE_RECITATION", "IMAGE_PROHIBITED_CONTENT"};
  if (word == "STOP")
    return finish_reason::stop;
  if (word == "MAX_TOKENS")
    return finish_reason::length;
  if (std::find(std::begin(filters), std::end(filters), word) != std::end(filters))
    return finish_reason::filtered;
  return finish_reason::other;
}

} // namespace

bool gemini_decoder::read_whole(std::string_view body) {
  return read(body) && (is_answer_ || fault_);
}

answer_decoder::step gemini_decoder::read_event(std::string_view, std::string_view data) {
  joins_ = true;
  // Compatible gateways end their streams as others do.
  if (data == "[DONE]")
    return step::done;
  return read(data) ? step::more : step::malformed;
}

std::optional<service_fault> gemini_decoder::read_fault(std::string_view body) const {
  return read_fault_object(body);
}

bool gemini_decoder::read(std::string_view json) {
  json_reader in(json);
  bool is_object = in.object([&](std::string_view key) {
    if (key == "candidates") {
      is_answer_ = true;
      // Only the first one is ours: more are never asked for.
      bool first = true;
      in.array([&] { std::exchange(first, false) ? read_candidate(in) : in.skip(); });
    } else if (key == "usageMetadata") {
      is_answer_ = true;
      read_usage(in);
    } else if (key == "promptFeedback") {
      is_answer_ = true;
      read_feedback(in);
    } else if (key == "error" && in.peek() != json_reader::kind::null) {
      fault_ = read_fault_value(in);
    } else {
      in.skip();
    }
  });
  return is_object && in.at_end();
}

void gemini_decoder::read_candidate(json_reader& in) {
  std::string reason;
  std::string message;
  in.object([&](std::string_view key) {
    if (key == "content")
      read_content(in);
    else if (key == "finishReason")
      in.string(reason);
    else if (key == "finishMessage")
      in.string(message);
    else
      in.skip();
  });
  if (!reason.empty())
    finish_ = finish_from(reason);
  if (finish_ == finish_reason::filtered && !message.empty())
    refusal_ = std::move(message);
}

void gemini_decoder::read_content(json_reader& in) {
  in.object([&](std::string_view key) {
    if (key == "parts")
      in.array([&] { read_part(in); });
    else
      in.skip();
  });
}

// What a part is shows in its members, which come in any order.
void gemini_decoder::read_part(json_reader& in) {
  piece p;
  text_.clear();
  auto whole = in.rest();
  in.object([&](std::string_view key) {
    if (key == "text") {
      p.has_text = in.string(text_);
    } else if (key == "thought") {
      p.thought = in.raw() == "true";
    } else if (key == "thoughtSignature") {
      p.signature = in.raw();
    } else if (key == "functionCall") {
      p.what = kind::call;
      p.body = in.raw();
    } else if (key == "inlineData" || key == "fileData") {
      p.what = kind::data;
      p.body = in.raw();
    } else {
      if (key != "partMetadata" && key != "videoMetadata" && key != "mediaResolution")
        p.what = kind::opaque;
      in.skip();
    }
  });
  if (in.failed())
    return;
  auto raw = whole.substr(0, whole.size() - in.rest().size());
  if (p.what == kind::call)
    add_call(p);
  else if (p.what == kind::data && !p.thought)
    add_data(raw, p);
  else if (p.what == kind::text)
    add_text(p);
  else
    parts_.push_back(make_opaque_part(protocol, raw));
}

// A signature belongs to its own piece of text, so pieces with one stand alone.
void gemini_decoder::add_text(const piece& p) {
  if (!p.has_text && p.signature.empty())
    return;
  show(p.thought, text_);
  if (joins_ && p.signature.empty() && !parts_.empty() && parts_.back().blob.empty()) {
    auto& last = parts_.back().value;
    auto* text = std::get_if<text_part>(&last);
    auto* thought = std::get_if<thought_part>(&last);
    if (p.thought ? thought != nullptr : text != nullptr) {
      (p.thought ? thought->text : text->text).append(text_);
      return;
    }
  }
  auto blob = p.signature.empty()
                  ? std::string{}
                  : make_blob(protocol, R"({"thoughtSignature":)" + std::string(p.signature) + "}");
  if (p.thought)
    parts_.push_back({thought_part{text_}, std::move(blob)});
  else
    parts_.push_back({text_part{text_}, std::move(blob)});
}

void gemini_decoder::add_call(const piece& p) {
  tool_call_part call;
  raw_object inside;
  json_reader in(p.body);
  in.object([&](std::string_view key) {
    if (key == "name")
      in.string(call.name);
    else if (key == "args")
      call.arguments = in.raw();
    else if (key == "id")
      inside.set("id", in.raw());
    else
      in.skip();
  });
  if (call.arguments.empty() || call.arguments == "null")
    call.arguments = "{}";
  if (!p.signature.empty())
    inside.set("thoughtSignature", p.signature);
  answered_ = has_calls_ = true;
  parts_.push_back({std::move(call), make_blob(protocol, inside.json())});
}

void gemini_decoder::add_data(std::string_view raw, const piece& p) {
  data_part data;
  json_reader in(p.body);
  in.object([&](std::string_view key) {
    if (key == "mimeType")
      in.string(data.mime_type);
    else if (key == "data")
      in.string(data.base64);
    else if (key == "fileUri")
      in.string(data.uri);
    else
      in.skip();
  });
  answered_ = true;
  parts_.push_back({std::move(data), make_opaque_part(protocol, raw).blob});
}

void gemini_decoder::read_feedback(json_reader& in) {
  std::string reason;
  std::string message;
  in.object([&](std::string_view key) {
    if (key == "blockReason")
      in.string(reason);
    else if (key == "blockReasonMessage")
      in.string(message);
    else
      in.skip();
  });
  if (reason.empty())
    return;
  finish_ = finish_reason::filtered;
  refusal_ = message.empty() ? "The prompt was blocked: " + reason : message;
}

// The counts of a stream's events are those so far.
void gemini_decoder::read_usage(json_reader& in) {
  in.object([&](std::string_view key) {
    if (key == "promptTokenCount")
      read_count(in, prompt_);
    else if (key == "toolUsePromptTokenCount")
      read_count(in, tool_prompt_);
    else if (key == "cachedContentTokenCount")
      read_count(in, usage_.cached);
    else if (key == "candidatesTokenCount")
      read_count(in, candidates_);
    else if (key == "thoughtsTokenCount")
      read_count(in, usage_.reasoning);
    else
      in.skip();
  });
  usage_.input = prompt_ + tool_prompt_;
  usage_.output = candidates_ + usage_.reasoning;
}

model_response gemini_decoder::take() {
  auto out = begin_response(has_calls_);
  out.parts = std::move(parts_);
  return out;
}

} // namespace troupe::net
