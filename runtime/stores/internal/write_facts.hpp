// What the stores keep about a session besides its events, read off a batch that is written.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace troupe::internal {

struct batch_facts {
  std::int32_t live = 0;             // agents that started less agents that ended
  const std::string* root = nullptr; // the name of a root agent that started; lives as long as the batch
  bool shared_state = false;         // holds a state event for a `user:` or `app:` key
};

[[nodiscard]] batch_facts facts_of(const event_batch& batch) noexcept;

enum class state_scope : std::uint8_t { session, user, app };

[[nodiscard]] state_scope scope_of(const std::string& key) noexcept;

// The first write before `index` of the same session that was refused, or null. `answers` are those of the writes before.
[[nodiscard]] const error* earlier_failure(std::span<const log_write> writes,
                                           const std::vector<status>& answers, std::size_t index) noexcept;

[[nodiscard]] error not_open(const session_id& session);
[[nodiscard]] error taken_over(const session_id& session);
[[nodiscard]] error not_dense(const session_id& session, std::uint64_t seq, std::uint64_t last_seq);
// The log in `file` has a hole.
[[nodiscard]] error missing_events(const session_id& session, const std::filesystem::path& file,
                                   std::uint64_t first, std::uint64_t last);
[[nodiscard]] error owned_by(const session_id& session, const std::string& owner);
[[nodiscard]] error unknown_session(const session_id& session);
[[nodiscard]] error still_open(const session_id& session);

} // namespace troupe::internal
