// What of an agent's conversation a remote agent has not seen, and where the two of them stand. Pure.
//
// The ids of A2A stand in the blob of an answer's last part, {"a2a": {"context", "task", "state"}}: they belong to one
// conversation, come back with its next request and are in the log.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/a2a/internal/values.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe::net::a2a {

struct conversation_ids {
  std::string context{};
  std::string task{};
  task_state state = task_state::unknown; // of that task when it was last heard of
};

struct conversation {
  conversation_ids ids{};
  bool is_new = true;                      // there was no answer yet
  std::vector<part> news{};                // what goes into the message: one text, then data
  bool hints_only = false;                 // an answer stands; what is new are hints
  std::string earlier{};                   // the text of that answer
  std::string question{};                  // that the peer asked last
  std::optional<std::string> unanswered{}; // the question of the peer that nobody could answer
  bool is_grace = false;                   // the agent has come to a limit and may ask for nothing more
};

[[nodiscard]] conversation read_conversation(const model_request& request);

[[nodiscard]] std::string write_blob(const conversation_ids& ids);
// Absent when the blob is another protocol's.
[[nodiscard]] std::optional<conversation_ids> read_blob(const std::string& blob);

// The same for the same turn of the same agent, so that a peer sees when a message comes again.
[[nodiscard]] std::string make_message_id(const model_request& request, const std::vector<part>& parts);

} // namespace troupe::net::a2a
