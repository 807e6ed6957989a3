// Reads answers of the Chat Completions API, whole or streamed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/net/sse_parser.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

// What an error object says: {"error": {"message": …, "code": …, "type": …}} and its relatives.
struct openai_error {
  std::string message;
  std::string code;                    // "insufficient_quota", or the type when there is no code
  std::optional<std::uint64_t> status; // when the code is an HTTP status
};

// The error object in a body, if it has one.
[[nodiscard]] std::optional<openai_error> read_openai_error(std::string_view body);

// Gathers one answer out of objects that carry messages or pieces of messages (deltas).
class openai_answer {
 public:
  // Reads one object: a whole answer, or a chunk of a stream. False when it is not well formed.
  [[nodiscard]] bool read(std::string_view json);

  // What the objects so far have said. Text and thought only grow.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::string& thought() const noexcept { return thought_; }
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  [[nodiscard]] const std::optional<openai_error>& error() const noexcept { return error_; }
  // The service has said why it stopped.
  [[nodiscard]] bool is_finished() const noexcept { return finish_.has_value(); }
  // There was a list of choices, if an empty one: it is an answer of this API.
  [[nodiscard]] bool has_choices() const noexcept { return has_choices_; }

  [[nodiscard]] bool is_empty() const noexcept { return text_.empty() && calls_.empty(); }
  [[nodiscard]] finish_reason finish() const noexcept { return finish_.value_or(finish_reason::other); }
  // What has been gathered; to be called once.
  [[nodiscard]] model_response take();

 private:
  struct call {
    std::optional<std::uint64_t> index;
    std::string id;
    std::string name;
    std::string arguments;
  };

  void read_choice(json_reader& in);
  void read_message(json_reader& in, bool whole);
  void read_content(json_reader& in, std::string& out);
  void read_call(json_reader& in, bool whole);
  void read_function(json_reader& in, call& piece);
  void read_usage(json_reader& in);
  void join(call piece, bool whole);
  [[nodiscard]] call* find(const call& piece);

  std::string text_;
  std::string thought_;
  std::string refusal_;
  std::vector<call> calls_;
  std::optional<finish_reason> finish_;
  std::optional<openai_error> error_;
  troupe::usage usage_;
  bool has_choices_ = false;
  std::string word_; // scratch
};

} // namespace troupe::net
