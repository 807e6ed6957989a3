// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/write_facts.hpp>

namespace troupe::internal {

batch_facts facts_of(const event_batch& batch) noexcept {
  batch_facts facts;
  for (const auto& e : batch) {
    if (const auto* started = e.as<agent_started_body>()) {
      ++facts.live;
      if (e.origin->number == 0)
        facts.root = &started->name;
    } else if (e.kind() == event_kind::agent_ended) {
      --facts.live;
    } else if (const auto* state = e.as<state_body>()) {
      facts.shared_state = facts.shared_state || scope_of(state->key) != state_scope::session;
    }
  }
  return facts;
}

state_scope scope_of(const std::string& key) noexcept {
  if (key.starts_with("user:"))
    return state_scope::user;
  return key.starts_with("app:") ? state_scope::app : state_scope::session;
}

const error* earlier_failure(std::span<const log_write> writes, const std::vector<status>& answers,
                             std::size_t index) noexcept {
  for (std::size_t i = 0; i < index; ++i)
    if (!answers[i] && writes[i].session == writes[index].session)
      return &answers[i].failure();
  return nullptr;
}

error not_open(const session_id& session) {
  return {errc::fenced, "Session '" + session.str() + "' is not open for writing; open it first."};
}

error taken_over(const session_id& session) {
  return {errc::fenced, "Session '" + session.str() + "' has another writer now."};
}

error not_dense(const session_id& session, std::uint64_t seq, std::uint64_t last_seq) {
  return {errc::store_corrupt, "Event " + std::to_string(seq) + " does not follow event " +
                                   std::to_string(last_seq) + " of session '" + session.str() + "'."};
}

error missing_events(const session_id& session, const std::filesystem::path& file, std::uint64_t first,
                     std::uint64_t last) {
  const auto events = first == last ? "event " + std::to_string(first)
                                    : "events " + std::to_string(first) + " to " + std::to_string(last);
  return {errc::store_corrupt, "Session '" + session.str() + "' in " + file.string() + " lacks " + events +
                                   "; it can be read up to there, and not continued."};
}

error owned_by(const session_id& session, const std::string& owner) {
  return {errc::busy, "Session '" + session.str() + "' is open: its writer is " + owner +
                          ". Wait until it is closed, or take it over."};
}

error unknown_session(const session_id& session) {
  return {errc::not_found, "There is no session '" + session.str() + "'."};
}

error still_open(const session_id& session) {
  return {errc::busy,
          "Session '" + session.str() + "' is open; it can be removed when its writer has closed it."};
}

} // namespace troupe::internal
