// The streamed pieces of one model call on their way from the provider's thread to the observer.
//
// The observer takes them when it comes to it. While it is busy they gather, so a stream costs one message for all that
// came meanwhile, and an observer that is slow gets fewer, longer pieces. Bounded by max_waiting: what does not fit is left
// out, and the offsets tell. Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/ids.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace troupe::actors {

class piece_stream {
 public:
  static constexpr std::size_t max_waiting = 64 * 1024; // bytes of text

  piece_stream(session_id session, agent_id agent, std::string message_id);

  [[nodiscard]] const session_id& session() const noexcept { return session_; }

  // True when the observer is to be told; else a word to it is on its way, or nothing is shown any more.
  [[nodiscard]] bool add(model_chunk chunk);

  // For the observer: what has come. From then on it is told of the next one.
  [[nodiscard]] std::vector<partial> take();

  // The call was given up: nothing more is shown.
  void close();

 private:
  const session_id session_;
  const agent_id agent_;
  const std::string message_id_;

  std::mutex mutex_;
  std::vector<partial> waiting_;              // neighbours differ in `thought`
  std::size_t bytes_ = 0;                     // of their texts
  std::array<std::uint64_t, 2> offset_{0, 0}; // of the next text, the next thought
  bool told_ = false;
  bool closed_ = false;
};

} // namespace troupe::actors
