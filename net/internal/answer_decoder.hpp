// Reads a service's answer, whole or streamed, into what the runtime is told: one class a protocol.
//
// Not thread-safe: used on the thread of the connection.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/json_reader.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

// What a service says went wrong, in the body of an answer.
struct service_fault {
  std::string message{};
  std::string code{}; // "insufficient_quota", or the type of the error when there is no code
  std::optional<std::uint64_t> status{}; // the HTTP status that it stands for, where that is known
  std::optional<std::chrono::milliseconds> retry_after{};
};

class answer_decoder {
 public:
  enum class step : std::uint8_t {
    more,      // go on
    done,      // the protocol's own mark of the end
    malformed, // not well formed; nothing more can be read
  };

  virtual ~answer_decoder() = default;
  answer_decoder(const answer_decoder&) = delete;
  answer_decoder& operator=(const answer_decoder&) = delete;

  // Reads the body of an answer that is not streamed. False when it is no answer of this protocol; a fault is
  // one.
  [[nodiscard]] virtual bool read_whole(std::string_view body) = 0;
  // Reads one event of a stream. After a fault or `done` no more events come.
  [[nodiscard]] virtual step read_event(std::string_view name, std::string_view data) = 0;
  // The fault in the body of an answer whose status is not 200.
  [[nodiscard]] virtual std::optional<service_fault> read_fault(std::string_view body) const = 0;
  // What has been gathered. To be called once, at the end.
  [[nodiscard]] virtual model_response take() = 0;

  // The service has only paused and wants its answer so far sent back to go on. The text is a message to send
  // after the conversation, with a comma before it; what is read from then on joins what is there.
  [[nodiscard]] virtual std::optional<std::string> resume() { return std::nullopt; }

  // What is fresh to show since the last call, in its order. Empty unless chunks are wanted.
  [[nodiscard]] std::vector<model_chunk> take_chunks();
  [[nodiscard]] bool has_chunks() const noexcept { return !chunks_.empty(); }

  [[nodiscard]] const std::optional<service_fault>& fault() const noexcept { return fault_; }
  // Why the model would not answer, in its own or the service's words.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  // The service has said why it stopped.
  [[nodiscard]] bool is_finished() const noexcept { return finish_.has_value(); }
  [[nodiscard]] finish_reason finish() const noexcept { return finish_.value_or(finish_reason::other); }
  // There is neither text nor data nor a tool call.
  [[nodiscard]] bool is_empty() const noexcept { return !answered_; }

 protected:
  // `stream` tells whether chunks are wanted.
  explicit answer_decoder(bool stream) noexcept : wants_chunks_(stream) {}

  // Appends the string that comes next to `out`, which is text or thought, and shows it.
  void read_text(json_reader& in, std::string& out, bool thought);
  void show(bool thought, std::string_view text);
  // A response without its parts: usage, and why the answer ended.
  [[nodiscard]] model_response begin_response(bool has_calls) const;

  std::optional<finish_reason> finish_;
  std::optional<service_fault> fault_;
  std::string refusal_;
  troupe::usage usage_;
  bool answered_ = false;

 private:
  bool wants_chunks_;
  std::vector<model_chunk> chunks_;
};

// {"error": {"message": …, "code": …, "type": …}} and its relatives: the error may be just its message, stand
// in a list, or have no member `error` around it. Absent when the body has none.
[[nodiscard]] std::optional<service_fault> read_fault_object(std::string_view body);

// The error itself, which comes next.
[[nodiscard]] service_fault read_fault_value(json_reader& in);

// Reads a whole number into `out`; another value leaves it alone.
void read_count(json_reader& in, std::uint64_t& out);

} // namespace troupe::net
