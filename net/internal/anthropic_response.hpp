// Reads answers of the Messages API, whole or streamed.
//
// What stands in the blobs of its parts, under "anthropic": `signature` of a thought; `citations` of a text;
// `id` and what else a tool_use block holds beside name and input; `item`, a block of another kind.
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

class anthropic_decoder final : public answer_decoder {
 public:
  explicit anthropic_decoder(bool stream) noexcept : answer_decoder(stream) {}

  [[nodiscard]] bool read_whole(std::string_view body) override;
  [[nodiscard]] step read_event(std::string_view name, std::string_view data) override;
  [[nodiscard]] std::optional<service_fault> read_fault(std::string_view body) const override;
  [[nodiscard]] model_response take() override;
  [[nodiscard]] std::optional<std::string> resume() override;

 private:
  struct block {
    std::uint64_t index = 0;
    std::string type;
    std::string text; // of text and thinking
    std::string name; // of tool_use
    std::string signature;
    std::string citations; // elements of the list
    std::string input;     // in pieces
    raw_object members;    // that have no place of their own
  };
  // The service's own counts of one message.
  struct counts {
    std::uint64_t input = 0;
    std::uint64_t cache_created = 0;
    std::uint64_t cache_read = 0;
    std::uint64_t output = 0;
    std::uint64_t thinking = 0;
  };

  void read_message(json_reader& in);
  void read_block(json_reader& in, std::uint64_t index);
  void read_start(std::string_view content_block, std::uint64_t index);
  void set_member(block& b, std::string_view key, std::string_view raw);
  void read_delta(std::string_view delta, std::uint64_t index);
  void grow(block& b, std::string_view key, json_reader& in);
  void read_message_delta(std::string_view delta);
  void read_stop_member(json_reader& in, std::string_view key);
  void read_stop_details(json_reader& in);
  void read_usage(json_reader& in);
  void read_error(json_reader& in);
  void add_counts();
  [[nodiscard]] block* find(std::uint64_t index);
  [[nodiscard]] static part to_part(block b);

  std::vector<block> blocks_;
  std::size_t message_begin_ = 0; // the first block of the message that is being read
  counts counts_;
  bool has_content_ = false;
  bool paused_ = false;
  std::string word_; // scratch
};

} // namespace troupe::net
