// What all protocols need to write a request.
//
// A request is a list of shared pieces. What stays over the turns of an agent is written once and kept beside
// the value itself: the tools and the system message with the head, each content's messages with the content.
// Only the end, with the settings, is new for each request.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_message.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

// Valid UTF-8 whatever the value holds.
void append_json_value(std::string& out, const nlohmann::json& value);

// `,"key":` and nothing more; without the comma where `out` is empty or an object begins.
void append_key(std::string& out, std::string_view key);
// The same with a string as the member's value.
void append_member(std::string& out, std::string_view key, std::string_view text);

// The same with a value that is JSON already, under a key that a service has chosen.
void append_foreign_member(std::string& out, std::string_view key, std::string_view json);

// The settings that all services have, under their names; `extra` ends the object (model_service::extra_body).
void append_count(std::string& out, std::string_view key, const std::optional<std::uint32_t>& count);
void append_temperature(std::string& out, const std::optional<double>& temperature);
void append_extra(std::string& out, const std::string& extra);

// Elements of a list, each appended by `append`, with commas between them.
template <class Items, class Append>
void append_list(std::string& out, const Items& items, Append&& append) {
  bool first = true;
  for (const auto& item : items) {
    out.append(std::exchange(first, false) ? "" : ",");
    append(out, item);
  }
}

// Tools are declared: without them a choice of tools is an error.
[[nodiscard]] bool offers_tools(const model_request& request) noexcept;

// The choice of tools in the words of OpenAI's two protocols, which write a function and a list of some in ways of
// their own.
template <class AppendFunction>
void append_openai_choice(std::string& out, const model_request& request, AppendFunction append_function,
                          std::string_view some_begin, std::string_view some_end) {
  if (!offers_tools(request) || request.choice == tool_choice::automatic)
    return;
  append_key(out, "tool_choice");
  const auto& names = request.required_tools;
  if (request.choice == tool_choice::none) {
    out.append(R"("none")");
  } else if (names.empty()) {
    out.append(R"("required")");
  } else if (names.size() == 1) {
    append_function(out, names.front());
  } else {
    out.append(some_begin);
    append_list(out, names, append_function);
    out.append(some_end);
  }
}

// The bytes that a content takes in a request, about: what is written into that much room seldom has to move.
[[nodiscard]] std::size_t room_for(const content& c) noexcept;

// A message with a list of parts: `open`, what is added, "]}"; empty when nothing is.
class message_writer {
 public:
  // `room`: bytes that it will have, about.
  explicit message_writer(std::string_view open, std::size_t room) : empty_(open.size()) {
    out_.reserve(room);
    out_ = open;
  }

  template <class Append>
  void add(Append&& append) {
    auto before = out_.size();
    append(out_);
    if (out_.size() > before)
      out_ += ',';
  }
  [[nodiscard]] std::string finish() {
    if (out_.size() == empty_)
      return {};
    out_.back() = ']';
    out_ += '}';
    return std::move(out_);
  }

 private:
  std::string out_;
  std::size_t empty_;
};

// The arguments of a call, or {} when they are no JSON: services refuse a history with such arguments, and so
// would refuse the whole conversation from then on.
[[nodiscard]] std::string_view sendable_arguments(std::string_view arguments);
// The same for protocols whose arguments are an object.
[[nodiscard]] std::string_view object_arguments(std::string_view arguments);
// `text` is a JSON object.
[[nodiscard]] bool is_json_object(std::string_view text);

[[nodiscard]] bool is_blank(std::string_view text) noexcept;

// "low", "medium", "high"; empty for the others.
[[nodiscard]] std::string_view effort_word(thinking_level level) noexcept;

// The bytes as a data URL, or the address that the part holds.
[[nodiscard]] std::string data_url(const data_part& data);
// What a file is called matters only for its ending: "file.pdf".
[[nodiscard]] std::string file_name(std::string_view mime_type);

// The pieces of a body: a head, a list whose elements are written with a comma before them, an end.
class request_pieces {
 public:
  // `has_elements` tells that the list has some already, in the head.
  request_pieces(std::shared_ptr<const std::string> head, bool has_elements, std::size_t contents)
      : first_(!has_elements) {
    pieces_.reserve(contents + 3);
    pieces_.emplace_back(std::move(head));
  }

  // Elements of the list, with a comma before each; none when the text is empty.
  void add(std::shared_ptr<const std::string> elements) {
    if (elements->empty())
      return;
    pieces_.emplace_back(std::move(elements), first_ ? 1 : 0);
    first_ = false;
  }
  void add(std::string elements) { add(std::make_shared<const std::string>(std::move(elements))); }
  // Each content's elements, made by `encode` once a content; `form` names the protocol.
  template <class Encode>
  void add_contents(const transcript& contents, const void* form, Encode&& encode) {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      const auto& c = *contents[i];
      add(c.encoded.get(form, [&] { return encode(c); }));
    }
  }
  [[nodiscard]] std::vector<body_piece> finish(std::string end) {
    pieces_.emplace_back(std::make_shared<const std::string>(std::move(end)));
    return std::move(pieces_);
  }

 private:
  std::vector<body_piece> pieces_;
  bool first_;
};

} // namespace troupe::net
