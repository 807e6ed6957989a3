// Streamed pieces on their way from an actor's thread to one stream.
//
// Pieces of one message are joined. What comes beyond the bound is lost, and the next piece's offset shows the gap. Secrets
// are masked across pieces: text that may begin one is held back until what follows decides; the final event has it all.
//
// Thread-safe: push() on any thread, short; take() by the stream alone, which masks without holding anybody up.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace troupe::net {

struct shown_piece {
  agent_number agent = 0;
  std::string message{};
  bool thought = false;
  std::uint64_t offset = 0;
  std::string text{};
};

class partial_buffer {
 public:
  static constexpr std::size_t max_messages = 1024; // whose ends are remembered

  explicit partial_buffer(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void push(const partial& piece);
  [[nodiscard]] std::vector<shown_piece> take();
  // Pieces that were lost.
  [[nodiscard]] std::uint64_t lost() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  using key = std::tuple<agent_number, std::string, bool>;

  // What was pushed of a message, under the lock.
  struct pushed {
    std::string raw{};        // not taken yet
    std::uint64_t end = 0;    // of what was kept, in the raw text
    std::uint64_t gap = 0;    // bytes that are missing before `raw`
    bool begins_anew = false; // `raw` stands behind a gap
  };
  // What was shown of it; only take() sees it.
  struct shown {
    stream_sanitizer mask{};
    std::string cut{};      // the beginning of a character
    std::uint64_t sent = 0; // bytes; gaps count
    // Until a blank nothing is shown: what came before is not known, and this may be the rest of a secret.
    bool in_word = false;
  };
  struct taken {
    key of;
    pushed what;
  };

  [[nodiscard]] pushed* find(const key& of, const partial& piece);
  [[nodiscard]] std::vector<taken> take_raw();
  [[nodiscard]] shown& find_shown(const taken& t);
  [[nodiscard]] static std::string show(shown& s, taken& t);

  const std::size_t max_bytes_;
  mutable std::mutex mutex_; // guards pushed_, bytes_ and lost_
  std::map<key, pushed> pushed_;
  std::size_t bytes_ = 0;
  std::uint64_t lost_ = 0;
  std::map<key, shown> shown_;
};

} // namespace troupe::net
