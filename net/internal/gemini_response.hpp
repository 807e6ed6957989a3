// Reads answers of generateContent, whole or streamed.
//
// What stands in the blobs of its parts, under "gemini": `thoughtSignature` of the part; `id` of a call; `item`,
// a part of another kind. A call always has a blob, if an empty one: it tells that the service made it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/answer_decoder.hpp>
#include <troupe/net/internal/json_reader.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

class gemini_decoder final : public answer_decoder {
 public:
  explicit gemini_decoder(bool stream) noexcept : answer_decoder(stream) {}

  [[nodiscard]] bool read_whole(std::string_view body) override;
  [[nodiscard]] step read_event(std::string_view name, std::string_view data) override;
  [[nodiscard]] std::optional<service_fault> read_fault(std::string_view body) const override;
  [[nodiscard]] model_response take() override;

 private:
  enum class kind : std::uint8_t { text, call, data, opaque };
  // The members of one part as they come.
  struct piece {
    kind what = kind::text;
    bool thought = false;
    bool has_text = false;
    std::string_view signature; // JSON
    std::string_view body;      // JSON of functionCall, inlineData or fileData
  };

  [[nodiscard]] bool read(std::string_view json);
  void read_candidate(json_reader& in);
  void read_content(json_reader& in);
  void read_part(json_reader& in);
  void add_text(const piece& p);
  void add_call(const piece& p);
  void add_data(std::string_view raw, const piece& p);
  void read_feedback(json_reader& in);
  void read_usage(json_reader& in);

  std::vector<part> parts_;
  bool joins_ = false;     // pieces of text belong together: those of a stream
  bool is_answer_ = false; // a member has come that answers of this API have
  bool has_calls_ = false;
  // The service's own counts. What its tools have put into the prompt is not in that of the prompt.
  std::uint64_t prompt_ = 0;
  std::uint64_t tool_prompt_ = 0;
  std::uint64_t candidates_ = 0;
  std::string text_; // scratch
};

} // namespace troupe::net
