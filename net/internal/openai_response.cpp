// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/openai_response.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
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

// An error is an object, or just its message.
openai_error read_error(json_reader& in) {
  openai_error out;
  if (in.peek() == json_reader::kind::string) {
    in.string(out.message);
    return out;
  }
  std::string type;
  in.object([&](std::string_view key) {
    if (key == "message") {
      in.string(out.message);
    } else if (key == "code" && in.peek() == json_reader::kind::number) {
      out.status = in.whole_number();
    } else if (key == "code") {
      in.string(out.code);
    } else if (key == "type") {
      in.string(type);
    } else {
      in.skip();
    }
  });
  if (out.code.empty())
    out.code = std::move(type);
  return out;
}

} // namespace

std::optional<openai_error> read_openai_error(std::string_view body) {
  // Gemini's compatible service wraps its errors into an array.
  std::optional<openai_error> found;
  json_reader in(body);
  auto read = [&] {
    std::string message;
    in.object([&](std::string_view key) {
      if (key == "error" && in.peek() != json_reader::kind::null)
        found = read_error(in);
      else if (key == "message" || key == "detail")
        in.string(message);
      else
        in.skip();
    });
    if (!found && !message.empty())
      found = openai_error{std::move(message), {}, {}};
  };
  if (in.peek() == json_reader::kind::array)
    in.array(read);
  else
    read();
  return in.failed() ? std::nullopt : found;
}

bool openai_answer::read(std::string_view json) {
  json_reader in(json);
  bool is_object = in.object([&](std::string_view key) {
    if (key == "choices") {
      has_choices_ = true;
      in.array([&] { read_choice(in); });
    } else if (key == "usage") {
      read_usage(in);
    } else if (key == "error" && in.peek() != json_reader::kind::null) {
      error_ = read_error(in);
    } else {
      in.skip();
    }
  });
  return is_object && in.at_end();
}

// Only the first choice is ours: more are never asked for.
void openai_answer::read_choice(json_reader& in) {
  in.object([&](std::string_view key) {
    if (key == "delta") {
      read_message(in, false);
    } else if (key == "message") {
      read_message(in, true);
    } else if (key == "finish_reason") {
      word_.clear();
      if (in.string(word_) && !word_.empty())
        finish_ = finish_from(word_);
    } else {
      in.skip();
    }
  });
}

void openai_answer::read_message(json_reader& in, bool whole) {
  auto thought_before = thought_.size();
  in.object([&](std::string_view key) {
    if (key == "content") {
      read_content(in, text_);
    } else if (key == "reasoning_content" || key == "reasoning") {
      // Some servers send both names with the same text.
      if (thought_.size() == thought_before)
        read_content(in, thought_);
      else
        in.skip();
    } else if (key == "refusal") {
      in.string(refusal_);
    } else if (key == "tool_calls") {
      in.array([&] { read_call(in, whole); });
    } else {
      in.skip();
    }
  });
}

// A string, null, or a list of parts.
void openai_answer::read_content(json_reader& in, std::string& out) {
  if (in.peek() != json_reader::kind::array) {
    in.string(out);
    return;
  }
  in.array([&] {
    in.object([&](std::string_view key) {
      if (key == "text")
        in.string(out);
      else
        in.skip();
    });
  });
}

void openai_answer::read_call(json_reader& in, bool whole) {
  call piece;
  in.object([&](std::string_view key) {
    if (key == "index")
      piece.index = in.whole_number();
    else if (key == "id")
      in.string(piece.id);
    else if (key == "function")
      read_function(in, piece);
    else
      in.skip();
  });
  if (!in.failed())
    join(std::move(piece), whole);
}

void openai_answer::read_function(json_reader& in, call& piece) {
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

void openai_answer::join(call piece, bool whole) {
  auto* known = whole ? nullptr : find(piece);
  if (known == nullptr) {
    calls_.push_back(std::move(piece));
    return;
  }
  if (known->id.empty())
    known->id = std::move(piece.id);
  if (known->name.empty())
    known->name = std::move(piece.name);
  known->arguments.append(piece.arguments);
}

// The call that `piece` goes on with; null when it begins a new one.
openai_answer::call* openai_answer::find(const call& piece) {
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

void openai_answer::read_usage(json_reader& in) {
  auto count = [&](std::uint64_t& into) {
    if (auto number = in.whole_number())
      into = *number;
  };
  in.object([&](std::string_view key) {
    if (key == "prompt_tokens") {
      count(usage_.input);
    } else if (key == "completion_tokens") {
      count(usage_.output);
    } else if (key == "prompt_tokens_details") {
      in.object([&](std::string_view name) { name == "cached_tokens" ? count(usage_.cached) : in.skip(); });
    } else if (key == "completion_tokens_details") {
      in.object(
          [&](std::string_view name) { name == "reasoning_tokens" ? count(usage_.reasoning) : in.skip(); });
    } else {
      in.skip();
    }
  });
}

model_response openai_answer::take() {
  model_response out;
  out.usage = usage_;
  out.finish = finish();
  if (out.finish == finish_reason::stop && !calls_.empty())
    out.finish = finish_reason::tool_calls;
  out.parts.reserve(calls_.size() + 2);
  if (!thought_.empty())
    out.parts.push_back({thought_part{std::move(thought_)}, {}});
  if (!text_.empty())
    out.parts.push_back({text_part{std::move(text_)}, {}});
  std::unordered_map<std::string_view, std::size_t> given;
  for (const auto& c : calls_)
    ++given[c.id];
  for (auto& c : calls_) {
    std::string blob;
    // An id that is missing or given twice would tie results to the wrong calls.
    if (!c.id.empty() && given[c.id] == 1) {
      blob = R"({"id":)";
      append_json_string(blob, c.id);
      blob += '}';
    }
    out.parts.push_back({tool_call_part{{}, std::move(c.name), std::move(c.arguments)}, std::move(blob)});
  }
  return out;
}

} // namespace troupe::net
