// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/anthropic_request.hpp>
#include <troupe/net/internal/anthropic_response.hpp>
#include <troupe/net/internal/part_blob.hpp>
#include <troupe/net/internal/request_text.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {

namespace {

finish_reason finish_from(std::string_view word) {
  if (word == "end_turn" || word == "stop_sequence")
    return finish_reason::stop;
  if (word == "tool_use")
    return finish_reason::tool_calls;
  if (word == "max_tokens" || word == "model_context_window_exceeded")
    return finish_reason::length;
  if (word == "refusal")
    return finish_reason::filtered;
  return finish_reason::other;
}

// The status with which the service sends an error of this type (its list of errors).
std::optional<std::uint64_t> status_of(std::string_view type) {
  struct row {
    std::string_view type;
    std::uint64_t status;
  };
  constexpr row rows[] = {{"invalid_request_error", 400}, {"authentication_error", 401},
                          {"billing_error", 402},         {"permission_error", 403},
                          {"not_found_error", 404},       {"request_too_large", 413},
                          {"rate_limit_error", 429},      {"api_error", 500},
                          {"timeout_error", 504},         {"overloaded_error", 529}};
  for (const auto& r : rows)
    if (r.type == type)
      return r.status;
  return std::nullopt;
}

} // namespace

bool anthropic_decoder::read_whole(std::string_view body) {
  json_reader in(body);
  read_message(in);
  return in.at_end() && (has_content_ || fault_);
}

std::optional<service_fault> anthropic_decoder::read_fault(std::string_view body) const {
  return read_fault_object(body);
}

void anthropic_decoder::read_message(json_reader& in) {
  std::uint64_t index = 0;
  in.object([&](std::string_view key) {
    if (key == "content" && in.peek() == json_reader::kind::array) {
      has_content_ = true;
      in.array([&] { read_block(in, index++); });
    } else if (key == "usage") {
      read_usage(in);
    } else if (key == "error" && in.peek() == json_reader::kind::object) {
      read_error(in);
    } else {
      read_stop_member(in, key);
    }
  });
}

// The members of an event come in any order, so what has to wait for the others is kept as text.
answer_decoder::step anthropic_decoder::read_event(std::string_view, std::string_view data) {
  std::uint64_t index = 0;
  std::string_view delta;
  std::string_view start;
  word_.clear();
  json_reader in(data);
  bool is_object = in.object([&](std::string_view key) {
    if (key == "type")
      in.string(word_);
    else if (key == "index")
      read_count(in, index);
    else if (key == "delta")
      delta = in.raw();
    else if (key == "content_block")
      start = in.raw();
    else if (key == "message")
      read_message(in);
    else if (key == "usage")
      read_usage(in);
    else if (key == "error" && in.peek() == json_reader::kind::object)
      read_error(in);
    else
      in.skip();
  });
  if (!is_object || !in.at_end())
    return step::malformed;
  if (word_ == "content_block_delta")
    read_delta(delta, index);
  else if (word_ == "content_block_start")
    read_start(start, index);
  else if (word_ == "message_delta")
    read_message_delta(delta);
  return word_ == "message_stop" ? step::done : step::more;
}

void anthropic_decoder::read_message_delta(std::string_view delta) {
  json_reader in(delta);
  in.object([&](std::string_view key) { read_stop_member(in, key); });
}

void anthropic_decoder::read_stop_member(json_reader& in, std::string_view key) {
  if (key == "stop_reason") {
    std::string reason;
    if (!in.string(reason))
      return;
    finish_ = finish_from(reason);
    paused_ = reason == "pause_turn";
  } else if (key == "stop_details") {
    read_stop_details(in);
  } else {
    in.skip();
  }
}

void anthropic_decoder::read_stop_details(json_reader& in) {
  in.object([&](std::string_view key) { key == "explanation" ? void(in.string(refusal_)) : in.skip(); });
}

void anthropic_decoder::read_start(std::string_view content_block, std::uint64_t index) {
  json_reader in(content_block);
  read_block(in, index);
}

// The type tells what the other members mean, wherever it stands.
void anthropic_decoder::read_block(json_reader& in, std::uint64_t index) {
  block b;
  b.index = index;
  std::vector<std::pair<std::string, std::string_view>> members;
  in.object([&](std::string_view key) {
    std::string name(key);
    if (name == "type")
      in.string(b.type);
    else
      members.emplace_back(std::move(name), in.raw());
  });
  if (in.failed())
    return;
  answered_ = answered_ || b.type == "tool_use";
  for (const auto& [key, raw] : members)
    set_member(b, key, raw);
  blocks_.push_back(std::move(b));
}

void anthropic_decoder::set_member(block& b, std::string_view key, std::string_view raw) {
  json_reader value(raw);
  if (b.type == "text" && key == "text") {
    read_text(value, b.text, false);
  } else if (b.type == "text" && key == "citations") {
    value.array([&] { b.citations.append(b.citations.empty() ? "" : ",").append(value.raw()); });
  } else if (b.type == "thinking" && key == "thinking") {
    read_text(value, b.text, true);
  } else if (b.type == "thinking" && key == "signature") {
    value.string(b.signature);
  } else if (b.type == "tool_use" && key == "name") {
    value.string(b.name);
  } else {
    b.members.set(key, raw);
  }
}

anthropic_decoder::block* anthropic_decoder::find(std::uint64_t index) {
  auto end = blocks_.rend() - static_cast<std::ptrdiff_t>(message_begin_);
  auto found = std::find_if(blocks_.rbegin(), end, [&](const block& b) { return b.index == index; });
  return found == end ? nullptr : &*found;
}

void anthropic_decoder::read_delta(std::string_view delta, std::uint64_t index) {
  auto* b = find(index);
  if (b == nullptr)
    return;
  json_reader in(delta);
  in.object([&](std::string_view key) {
    if (key == "text" && b->type == "text")
      read_text(in, b->text, false);
    else if (key == "thinking" && b->type == "thinking")
      read_text(in, b->text, true);
    else if (key == "partial_json")
      in.string(b->input);
    else if (key == "signature" && b->type == "thinking")
      in.string(b->signature);
    else if (key == "citation" && b->type == "text")
      b->citations.append(b->citations.empty() ? "" : ",").append(in.raw());
    else if (key == "type")
      in.skip();
    else
      grow(*b, key, in);
  });
}

// Pieces of a kind of block that is not modelled.
void anthropic_decoder::grow(block& b, std::string_view key, json_reader& in) {
  std::string name(key);
  if (in.peek() == json_reader::kind::string) {
    std::string piece;
    in.string(piece);
    b.members.grow(name, piece);
  } else if (in.peek() == json_reader::kind::null) {
    in.skip();
  } else {
    b.members.set(name, in.raw());
  }
}

// Counts are those so far: later ones replace earlier ones.
void anthropic_decoder::read_usage(json_reader& in) {
  in.object([&](std::string_view key) {
    if (key == "input_tokens")
      read_count(in, counts_.input);
    else if (key == "cache_creation_input_tokens")
      read_count(in, counts_.cache_created);
    else if (key == "cache_read_input_tokens")
      read_count(in, counts_.cache_read);
    else if (key == "output_tokens")
      read_count(in, counts_.output);
    else if (key == "output_tokens_details")
      in.object([&](std::string_view name) {
        name == "thinking_tokens" ? read_count(in, counts_.thinking) : in.skip();
      });
    else
      in.skip();
  });
}

void anthropic_decoder::read_error(json_reader& in) {
  fault_ = read_fault_value(in);
  if (!fault_->status)
    fault_->status = status_of(fault_->code);
}

void anthropic_decoder::add_counts() {
  usage_ += {counts_.input + counts_.cache_created + counts_.cache_read, counts_.cache_read, counts_.output,
             counts_.thinking};
  counts_ = {};
}

part anthropic_decoder::to_part(block b) {
  constexpr std::string_view protocol = "anthropic";
  if (b.type == "text") {
    auto blob =
        b.citations.empty() ? std::string{} : make_blob(protocol, R"({"citations":[)" + b.citations + "]}");
    return {text_part{std::move(b.text)}, std::move(blob)};
  }
  if (b.type == "thinking") {
    raw_object inside;
    inside.set_string("signature", b.signature);
    return {thought_part{std::move(b.text)},
            b.signature.empty() ? std::string{} : make_blob(protocol, inside.json())};
  }
  if (!b.input.empty())
    b.members.set("input", sendable_arguments(b.input));
  if (b.type == "tool_use") {
    auto input = b.input.empty() ? std::string(b.members.value("input")) : std::move(b.input);
    return {tool_call_part{{}, std::move(b.name), std::move(input)},
            make_blob(protocol, b.members.json("input"))};
  }
  b.members.set_string("type", b.type);
  auto opaque = make_opaque_part(protocol, b.members.json());
  if (b.type == "redacted_thinking")
    opaque.value = thought_part{};
  return opaque;
}

model_response anthropic_decoder::take() {
  add_counts();
  auto out = begin_response(false);
  out.parts.reserve(blocks_.size());
  for (auto& b : blocks_)
    out.parts.push_back(to_part(std::move(b)));
  return out;
}

std::optional<std::string> anthropic_decoder::resume() {
  if (!paused_)
    return std::nullopt;
  content so_far;
  so_far.role = role::model;
  for (const auto& b : blocks_)
    so_far.parts.push_back(to_part(b));
  add_counts();
  message_begin_ = blocks_.size();
  paused_ = false;
  finish_.reset();
  return encode_anthropic_content(so_far);
}

} // namespace troupe::net
