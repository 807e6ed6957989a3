// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_responses_response.hpp>
#include <troupe/net/internal/part_blob.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {

namespace {

constexpr std::string_view protocol = "openai_responses";

bool is_thought(std::string_view type) {
  return type == "reasoning";
}

void replace(std::string& out, json_reader& in) {
  out.clear();
  in.string(out);
}

} // namespace

bool openai_responses_decoder::read_whole(std::string_view body) {
  json_reader in(body);
  read_response(in);
  return in.at_end() && (has_output_ || fault_);
}

std::optional<service_fault> openai_responses_decoder::read_fault(std::string_view body) const {
  return read_fault_object(body);
}

answer_decoder::step openai_responses_decoder::read_event(std::string_view name, std::string_view data) {
  if (data == "[DONE]")
    return step::done;
  event e;
  json_reader in(data);
  bool is_object = in.object([&](std::string_view key) {
    if (key == "type")
      in.string(e.type);
    else if (key == "output_index")
      read_count(in, e.index);
    else if (key == "summary_index")
      read_count(in, e.summary);
    else if (key == "delta")
      in.string(e.delta);
    else if (key == "item")
      e.item = in.raw();
    else if (key == "response")
      e.response = in.raw();
    else if (key == "error" && in.peek() == json_reader::kind::object)
      e.fault = read_fault_value(in);
    else if (key == "message")
      in.string(e.fault.message);
    else if (key == "code")
      in.string(e.fault.code);
    else
      in.skip();
  });
  if (!is_object || !in.at_end())
    return step::malformed;
  if (e.type.empty())
    e.type = name;
  return apply(e);
}

answer_decoder::step openai_responses_decoder::apply(const event& e) {
  if (e.type == "response.output_text.delta") {
    add_text(at(e.index), e.delta);
  } else if (e.type == "response.reasoning_summary_text.delta" || e.type == "response.reasoning_text.delta") {
    auto& i = at(e.index);
    i.type = "reasoning";
    add_text(i, e.delta);
  } else if (e.type == "response.reasoning_summary_part.added" && e.summary > 0) {
    add_text(at(e.index), "\n\n");
  } else if (e.type == "response.function_call_arguments.delta") {
    at(e.index).arguments.append(e.delta);
  } else if (e.type == "response.refusal.delta") {
    refusal_.append(e.delta);
  } else if (e.type == "response.output_item.added" || e.type == "response.output_item.done") {
    read_item(e.item, e.index);
  } else if (e.type == "error" || !e.fault.message.empty()) {
    fail(e.fault);
  } else if (e.type == "response.completed" || e.type == "response.incomplete" ||
             e.type == "response.failed" || e.type == "response.cancelled") {
    json_reader in(e.response);
    read_response(in);
    return in.failed() ? step::malformed : step::done;
  }
  return step::more;
}

// The items of a stream have come by then; only an answer that is whole brings them here.
void openai_responses_decoder::read_response(json_reader& in) {
  bool fresh = items_.empty();
  in.object([&](std::string_view key) {
    if (key == "output" && in.peek() == json_reader::kind::array) {
      has_output_ = true;
      std::uint64_t index = 0;
      in.array([&] { fresh ? read_item(in.raw(), index++) : in.skip(); });
    } else if (key == "status") {
      read_status(in);
    } else if (key == "incomplete_details") {
      read_incomplete(in);
    } else if (key == "usage") {
      read_usage(in);
    } else if (key == "error" && in.peek() == json_reader::kind::object) {
      fail(read_fault_value(in));
    } else {
      in.skip();
    }
  });
}

void openai_responses_decoder::read_status(json_reader& in) {
  std::string word;
  in.string(word);
  if (word == "completed")
    finish_ = finish_reason::stop;
  else if (word == "cancelled" || word == "failed" || (word == "incomplete" && !finish_))
    finish_ = finish_reason::other;
}

void openai_responses_decoder::read_incomplete(json_reader& in) {
  std::string reason;
  in.object([&](std::string_view key) { key == "reason" ? void(in.string(reason)) : in.skip(); });
  if (reason == "max_output_tokens")
    finish_ = finish_reason::length;
  else if (reason == "content_filter")
    finish_ = finish_reason::filtered;
}

void openai_responses_decoder::read_usage(json_reader& in) {
  auto inside = [&](std::string_view wanted, std::uint64_t& into) {
    in.object([&](std::string_view name) { name == wanted ? read_count(in, into) : in.skip(); });
  };
  in.object([&](std::string_view key) {
    if (key == "input_tokens")
      read_count(in, usage_.input);
    else if (key == "output_tokens")
      read_count(in, usage_.output);
    else if (key == "input_tokens_details")
      inside("cached_tokens", usage_.cached);
    else if (key == "output_tokens_details")
      inside("reasoning_tokens", usage_.reasoning);
    else
      in.skip();
  });
}

void openai_responses_decoder::fail(service_fault fault) {
  fault_ = std::move(fault);
  if (!fault_->status && fault_->code == "server_error")
    fault_->status = 500;
}

openai_responses_decoder::item& openai_responses_decoder::at(std::uint64_t index) {
  auto found = std::find_if(items_.rbegin(), items_.rend(), [&](const item& i) { return i.index == index; });
  if (found != items_.rend())
    return *found;
  item fresh;
  fresh.index = index;
  fresh.type = "message";
  return items_.emplace_back(std::move(fresh));
}

void openai_responses_decoder::add_text(item& out, std::string_view text) {
  out.in_pieces = true;
  out.text.append(text);
  show(is_thought(out.type), text);
}

// An item comes twice in a stream, at its begin and at its end. Text that has come in pieces is not taken again.
void openai_responses_decoder::read_item(std::string_view raw, std::uint64_t index) {
  auto& out = at(index);
  std::vector<std::pair<std::string, std::string_view>> members;
  json_reader in(raw);
  in.object([&](std::string_view key) {
    std::string name(key);
    members.emplace_back(std::move(name), in.raw());
  });
  for (const auto& [key, value] : members) {
    json_reader type(value);
    if (key == "type")
      replace(out.type, type);
  }
  if (out.type != "message" && out.type != "function_call")
    out.raw = raw;
  has_calls_ = has_calls_ || out.type == "function_call";
  answered_ = answered_ || has_calls_;
  for (const auto& [key, text] : members) {
    json_reader value(text);
    if (key == "type" || key == "role")
      continue;
    if (out.type == "message" && key == "content")
      read_message(out, value);
    else if (is_thought(out.type) && (key == "summary" || key == "content"))
      read_summary(out, value);
    else if (out.type == "function_call" && key == "name")
      replace(out.name, value);
    else if (out.type == "function_call" && key == "arguments")
      replace(out.arguments, value);
    else
      out.members.set(key, text);
  }
}

void openai_responses_decoder::read_message(item& out, json_reader& in) {
  const bool known = out.in_pieces;
  std::string refusal;
  in.array([&] {
    in.object([&](std::string_view key) {
      if (key == "text" && !known)
        read_text(in, out.text, false);
      else if (key == "refusal")
        in.string(refusal);
      else
        in.skip();
    });
  });
  if (refusal_.empty())
    refusal_ = std::move(refusal);
}

void openai_responses_decoder::read_summary(item& out, json_reader& in) {
  const bool known = out.in_pieces;
  in.array([&] {
    in.object([&](std::string_view key) {
      if (key != "text" || known)
        return in.skip();
      if (!out.text.empty()) {
        out.text.append("\n\n");
        show(true, "\n\n");
      }
      read_text(in, out.text, true);
    });
  });
}

part openai_responses_decoder::to_part(item i) const {
  if (i.type == "message")
    return {text_part{std::move(i.text)}, make_blob(protocol, i.members.json())};
  if (i.type == "function_call")
    return {tool_call_part{{}, std::move(i.name), std::move(i.arguments)},
            make_blob(protocol, i.members.json())};
  auto opaque = make_opaque_part(protocol, i.raw);
  if (is_thought(i.type)) {
    opaque.value = thought_part{std::move(i.text)};
    auto secret = i.members.value("encrypted_content");
    // Without its encrypted form the service could only look it up, and nothing is stored there.
    if (secret.empty() || secret == "null")
      opaque.blob = {};
  }
  return opaque;
}

model_response openai_responses_decoder::take() {
  auto out = begin_response(has_calls_);
  out.parts.reserve(items_.size());
  for (auto& i : items_) {
    if (i.type != "message" || !i.text.empty())
      out.parts.push_back(to_part(std::move(i)));
  }
  return out;
}

} // namespace troupe::net
