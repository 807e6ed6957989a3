// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/net/internal/part_blob.hpp>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace troupe::net {

namespace {

finish_reason finish_from(std::string_view word) {
  if (word == "stop")
    return finish_reason::stop;
  if (word == "tool_calls" || word == "function_call")
    return finish_reason::tool_calls;
  if (word == "length")
    return finish_reason::length;
  if (word == "content_filter")
    return finish_reason::filtered;
  return finish_reason::other;
}

} // namespace

bool openai_decoder::read_whole(std::string_view body) {
  return read(body) && (has_choices_ || fault_);
}

answer_decoder::step openai_decoder::read_event(std::string_view, std::string_view data) {
  if (data == "[DONE]")
    return step::done;
  return read(data) ? step::more : step::malformed;
}

// Gemini's compatible service wraps its errors into an array.
std::optional<service_fault> openai_decoder::read_fault(std::string_view body) const {
  return read_fault_object(body);
}

bool openai_decoder::read(std::string_view json) {
  json_reader in(json);
  bool is_object = in.object([&](std::string_view key) {
    if (key == "choices") {
      has_choices_ = true;
      in.array([&] { read_choice(in); });
    } else if (key == "usage") {
      read_usage(in);
    } else if (key == "x_groq") {
      read_extensions(in);
    } else if (key == "error" && in.peek() != json_reader::kind::null) {
      fault_ = read_fault_value(in);
    } else {
      in.skip();
    }
  });
  return is_object && in.at_end();
}

// Only the first choice is ours: more are never asked for.
void openai_decoder::read_choice(json_reader& in) {
  in.object([&](std::string_view key) {
    if (key == "delta") {
      read_message(in, false);
    } else if (key == "message") {
      read_message(in, true);
    } else if (key == "finish_reason") {
      word_.clear();
      if (in.string(word_) && !word_.empty())
        finish_ = finish_from(word_);
    } else if (key == "usage") {
      read_usage(in); // Moonshot puts it here
    } else {
      in.skip();
    }
  });
}

void openai_decoder::read_message(json_reader& in, bool whole) {
  auto thought_before = thought_.size();
  in.object([&](std::string_view key) {
    if (key == "content") {
      read_content(in, whole);
    } else if (key == "reasoning_content" || key == "reasoning") {
      // Some servers send both names with the same text.
      if (thought_.size() == thought_before)
        read_thought(in, key);
      else
        in.skip();
    } else if (key == "reasoning_details") {
      read_details(in, thought_.size() == thought_before);
    } else if (key == "refusal") {
      in.string(refusal_);
    } else if (key == "tool_calls") {
      in.array([&] { read_call(in, whole); });
    } else if (key == "extra_content") {
      extra_ = in.raw();
    } else {
      in.skip();
    }
  });
}

// A string, null, or a list of items.
void openai_decoder::read_content(json_reader& in, bool whole) {
  if (in.peek() == json_reader::kind::array)
    in.array([&] { read_item(in.raw(), whole); });
  else
    read_text(in, text_, false);
}

// {"type": "text", "text": …}; Mistral thinks in {"type": "thinking", "thinking": [{"type": "text", …}]}.
void openai_decoder::read_item(std::string_view item, bool whole) {
  bool is_text = false;
  json_reader in(item);
  in.object([&](std::string_view key) {
    if (key == "text") {
      is_text = true;
      read_text(in, text_, false);
    } else if (key == "thinking" && in.peek() == json_reader::kind::array) {
      in.array([&] {
        in.object([&](std::string_view name) { name == "text" ? read_text(in, thought_, true) : in.skip(); });
      });
    } else if (key == "thinking") {
      read_text(in, thought_, true);
    } else {
      in.skip();
    }
  });
  if (whole && !is_text)
    items_.emplace_back(item);
}

void openai_decoder::read_thought(json_reader& in, std::string_view key) {
  if (thought_field_.empty() && in.peek() == json_reader::kind::string)
    thought_field_ = key;
  if (in.peek() == json_reader::kind::array)
    in.array([&] {
      in.object([&](std::string_view name) { name == "text" ? read_text(in, thought_, true) : in.skip(); });
    });
  else
    read_text(in, thought_, true);
}

// OpenRouter's: they come whole or in pieces, and want to go back as one list.
void openai_decoder::read_details(json_reader& in, bool show_text) {
  in.array([&] { read_detail(in.raw(), show_text); });
}

void openai_decoder::read_detail(std::string_view raw, bool show_text) {
  detail piece;
  std::vector<std::pair<std::string, std::string>> grown;
  json_reader in(raw);
  in.object([&](std::string_view key) {
    if (key == "index") {
      piece.index = in.whole_number().value_or(0);
    } else if (key == "type") {
      in.string(piece.type);
    } else if ((key == "text" || key == "summary" || key == "data" || key == "signature") &&
               in.peek() == json_reader::kind::string) {
      auto& [name, text] = grown.emplace_back(std::string(key), std::string{});
      if (show_text && (name == "text" || name == "summary")) {
        auto before = thought_.size();
        read_text(in, thought_, true);
        text = thought_.substr(before);
      } else {
        in.string(text);
      }
    } else {
      std::string name(key);
      if (in.peek() == json_reader::kind::null)
        in.skip();
      else
        piece.members.set(name, in.raw());
    }
  });
  if (in.failed())
    return;
  auto same = std::find_if(details_.begin(), details_.end(),
                           [&](const detail& d) { return d.index == piece.index && d.type == piece.type; });
  if (same == details_.end())
    same = details_.insert(details_.end(), std::move(piece));
  for (const auto& [key, text] : grown)
    same->members.grow(key, text);
}

void openai_decoder::read_call(json_reader& in, bool whole) {
  call piece;
  in.object([&](std::string_view key) {
    if (key == "index")
      piece.index = in.whole_number();
    else if (key == "id")
      in.string(piece.id);
    else if (key == "function")
      read_function(in, piece);
    else if (key == "extra_content")
      piece.extra = in.raw();
    else
      in.skip();
  });
  if (!in.failed())
    join(std::move(piece), whole);
}

void openai_decoder::read_function(json_reader& in, call& piece) {
  in.object([&](std::string_view key) {
    if (key == "name") {
      in.string(piece.name);
    } else if (key == "arguments" && in.peek() == json_reader::kind::object) {
      piece.arguments.append(in.raw()); // the object itself instead of its text
    } else if (key == "arguments") {
      in.string(piece.arguments);
    } else {
      in.skip();
    }
  });
}

void openai_decoder::join(call piece, bool whole) {
  answered_ = true;
  auto* known = whole ? nullptr : find(piece);
  if (known == nullptr) {
    calls_.push_back(std::move(piece));
    return;
  }
  if (known->id.empty())
    known->id = std::move(piece.id);
  if (known->name.empty())
    known->name = std::move(piece.name);
  if (known->extra.empty())
    known->extra = std::move(piece.extra);
  known->arguments.append(piece.arguments);
}

// The call that `piece` goes on with; null when it begins a new one.
openai_decoder::call* openai_decoder::find(const call& piece) {
  auto known = calls_.rbegin();
  if (piece.index) {
    // Pieces come in the order of their calls as a rule, so the call is the last one or stands at its own index.
    const auto at = static_cast<std::size_t>(*piece.index);
    if (known != calls_.rend() && known->index != piece.index) {
      if (at < calls_.size() && calls_[at].index == piece.index)
        known = std::make_reverse_iterator(calls_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      else if (at >= calls_.size())
        return nullptr;
      else
        known = std::find_if(known, calls_.rend(), [&](const call& c) { return c.index == piece.index; });
    }
  }
  if (known == calls_.rend())
    return nullptr;
  // Servers without indexes, or with the same for all, tell a new call by its id or, without ids, by its
  // name.
  if (!piece.id.empty() && !known->id.empty() && piece.id != known->id)
    return nullptr;
  bool named_again = !piece.name.empty() && !known->name.empty();
  if (!piece.index && named_again && (piece.id.empty() || known->id.empty()))
    return nullptr;
  return &*known;
}

// The details are the standard's; DeepSeek and others have counts of their own beside them.
void openai_decoder::read_usage(json_reader& in) {
  auto inside = [&](std::string_view wanted, std::uint64_t& into) {
    in.object([&](std::string_view name) { name == wanted ? read_count(in, into) : in.skip(); });
  };
  std::uint64_t other_cached = 0;
  in.object([&](std::string_view key) {
    if (key == "prompt_tokens")
      read_count(in, usage_.input);
    else if (key == "completion_tokens")
      read_count(in, usage_.output);
    else if (key == "total_tokens")
      read_count(in, total_);
    else if (key == "prompt_tokens_details")
      inside("cached_tokens", usage_.cached);
    else if (key == "completion_tokens_details")
      inside("reasoning_tokens", usage_.reasoning);
    else if (key == "prompt_cache_hit_tokens" || key == "cached_tokens" || key == "num_cached_tokens")
      read_count(in, other_cached);
    else
      in.skip();
  });
  if (usage_.cached == 0)
    usage_.cached = other_cached;
}

// Groq repeats the usage of a stream here, or tells it only here.
void openai_decoder::read_extensions(json_reader& in) {
  in.object([&](std::string_view key) {
    if (key == "usage" && usage_.total() == 0)
      read_usage(in);
    else
      in.skip();
  });
}

std::string openai_decoder::thought_blob() const {
  std::string inside;
  if (!thought_field_.empty())
    inside.append(R"("field":")").append(thought_field_).append(1, '"');
  if (!details_.empty()) {
    inside.append(inside.empty() ? "" : ",").append(R"("reasoning_details":[)");
    for (auto d : details_) {
      d.members.set_string("type", d.type);
      d.members.set("index", std::to_string(d.index));
      inside.append(inside.back() == '[' ? "" : ",").append(d.members.json());
    }
    inside += ']';
  }
  return inside.empty() ? std::string{} : make_blob("openai", "{" + inside + "}");
}

void openai_decoder::take_calls(std::vector<part>& out) {
  std::unordered_map<std::string_view, std::size_t> given;
  for (const auto& c : calls_)
    ++given[c.id];
  for (auto& c : calls_) {
    std::string inside;
    // An id that is missing or given twice would tie results to the wrong calls.
    if (!c.id.empty() && given[c.id] == 1) {
      inside = R"("id":)";
      append_json_string(inside, c.id);
    }
    if (!c.extra.empty())
      inside.append(inside.empty() ? "" : ",").append(R"("extra_content":)").append(c.extra);
    auto blob = inside.empty() ? std::string{} : make_blob("openai", "{" + inside + "}");
    out.push_back({tool_call_part{{}, std::move(c.name), std::move(c.arguments)}, std::move(blob)});
  }
}

model_response openai_decoder::take() {
  // xAI leaves the reasoning out of the completion's count.
  if (usage_.reasoning > 0 && total_ == usage_.total() + usage_.reasoning)
    usage_.output += usage_.reasoning;
  auto out = begin_response(!calls_.empty());
  out.parts.reserve(calls_.size() + items_.size() + 2);
  if (!thought_.empty() || !details_.empty())
    out.parts.push_back({thought_part{std::move(thought_)}, thought_blob()});
  for (const auto& item : items_)
    out.parts.push_back(make_opaque_part("openai", item));
  if (!text_.empty())
    out.parts.push_back(
        {text_part{std::move(text_)},
         extra_.empty() ? std::string{} : make_blob("openai", R"({"extra_content":)" + extra_ + "}")});
  take_calls(out.parts);
  return out;
}

} // namespace troupe::net
