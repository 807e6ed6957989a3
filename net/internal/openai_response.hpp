// Reads answers of the Chat Completions API, whole or streamed.
//
// What stands in the blobs of its parts, under "openai": `id` and `extra_content` of a tool call;
// `reasoning_details` of a thought, and `field`, the name under which its text came; `extra_content` of the
// text; `item`, a piece of a content that came as a list.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/answer_decoder.hpp>
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/net/internal/raw_object.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

class openai_decoder final : public answer_decoder {
 public:
  explicit openai_decoder(bool stream) noexcept : answer_decoder(stream) {}

  [[nodiscard]] bool read_whole(std::string_view body) override;
  [[nodiscard]] step read_event(std::string_view name, std::string_view data) override;
  [[nodiscard]] std::optional<service_fault> read_fault(std::string_view body) const override;
  [[nodiscard]] model_response take() override;

 private:
  struct call {
    std::optional<std::uint64_t> index;
    std::string id;
    std::string name;
    std::string arguments;
    std::string extra; // JSON
  };
  struct detail {
    std::uint64_t index = 0;
    std::string type;
    raw_object members;
  };

  [[nodiscard]] bool read(std::string_view json);
  void read_choice(json_reader& in);
  void read_message(json_reader& in, bool whole);
  void read_content(json_reader& in, bool whole);
  void read_item(std::string_view item, bool whole);
  void read_thought(json_reader& in, std::string_view key);
  void read_details(json_reader& in, bool show_text);
  void read_detail(std::string_view raw, bool show_text);
  void read_call(json_reader& in, bool whole);
  void read_function(json_reader& in, call& piece);
  void read_usage(json_reader& in);
  void read_extensions(json_reader& in);
  void join(call piece, bool whole);
  [[nodiscard]] call* find(const call& piece);
  [[nodiscard]] std::string thought_blob() const;
  void take_calls(std::vector<part>& out);

  std::string text_;
  std::string thought_;
  std::string thought_field_;
  std::vector<detail> details_;
  std::vector<std::string> items_; // JSON, of a content that is a list
  std::string extra_;              // JSON, beside the text
  std::vector<call> calls_;
  bool has_choices_ = false; // a list of choices has come, if an empty one: it is an answer of this API
  std::uint64_t total_ = 0;
  std::string word_; // scratch
};

} // namespace troupe::net
