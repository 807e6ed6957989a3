// Reads answers of the Responses API, whole or streamed.
//
// What stands in the blobs of its parts, under "openai_responses": what a message holds beside its content, and
// a function call beside name and arguments (`id`, `call_id`, `status` and the like); `item`, an item of another
// kind, or of reasoning that is encrypted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/answer_decoder.hpp>
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/net/internal/raw_object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

class openai_responses_decoder final : public answer_decoder {
 public:
  explicit openai_responses_decoder(bool stream) noexcept : answer_decoder(stream) {}

  [[nodiscard]] bool read_whole(std::string_view body) override;
  [[nodiscard]] step read_event(std::string_view name, std::string_view data) override;
  [[nodiscard]] std::optional<service_fault> read_fault(std::string_view body) const override;
  [[nodiscard]] model_response take() override;

 private:
  struct item {
    std::uint64_t index = 0;
    std::string type;
    std::string text; // of a message or of reasoning
    std::string name;
    std::string arguments;
    raw_object members; // that have no place of their own
    std::string raw;    // of kinds that go back as they came
    bool in_pieces = false;
  };
  // The members of an event as they come.
  struct event {
    std::string type;
    std::uint64_t index = 0;
    std::uint64_t summary = 0;
    std::string delta;
    std::string_view item;
    std::string_view response;
    service_fault fault;
  };

  [[nodiscard]] step apply(const event& e);
  void read_response(json_reader& in);
  void read_status(json_reader& in);
  void read_incomplete(json_reader& in);
  void read_usage(json_reader& in);
  void read_item(std::string_view raw, std::uint64_t index);
  void read_message(item& out, json_reader& in);
  void read_summary(item& out, json_reader& in);
  void add_text(item& out, std::string_view text);
  void fail(service_fault fault);
  [[nodiscard]] item& at(std::uint64_t index);
  [[nodiscard]] part to_part(item i) const;

  std::vector<item> items_;
  bool has_output_ = false;
  bool has_calls_ = false;
};

} // namespace troupe::net
