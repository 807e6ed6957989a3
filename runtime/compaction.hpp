// When and how much of a long conversation is summed up.
//
// Pure. Sizes are estimates: bytes of text, at bytes_per_token bytes a token.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>
#include <troupe/runtime/transcript.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace troupe {

constexpr std::uint64_t bytes_per_token = 4;

struct compaction_rule {
  std::uint64_t above_tokens = 0;     // a longer conversation is summed up; 0: never
  std::uint64_t keep_tokens = 20'000; // of the newest contents, which stay as they are
  std::string model{};                // catalogue id of the model that sums up; empty: the agent's own
};

// Texts, arguments and data of a content.
[[nodiscard]] std::uint64_t estimate_bytes(const content& c) noexcept;

// How many of the oldest contents can go so that about `keep_bytes` stay: never between calls and their results, and
// never the last content, unless `more_follows`. 0 when nothing can.
[[nodiscard]] std::uint32_t contents_to_compact(const transcript& conversation, std::uint64_t keep_bytes,
                                                bool more_follows = false);

} // namespace troupe
