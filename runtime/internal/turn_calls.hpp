// What apply and decide share about the calls of a turn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/turn_machine.hpp>

#include <cstddef>
#include <optional>

namespace troupe {

// The call's place in the turn: the last number of its id; nothing when `id` has another form.
[[nodiscard]] std::optional<std::size_t> index_of(const call_id& id) noexcept;

// The open call of this id, or null when there is none or it has its result.
[[nodiscard]] open_call* find_open(agent_state& state, const call_id& id) noexcept;
[[nodiscard]] const open_call* find_open(const agent_state& state, const call_id& id) noexcept;

// The content that tells the first `results` background results and the first `hints` hints that wait.
[[nodiscard]] content waiting_content(const agent_state& state, std::size_t results, std::size_t hints);

} // namespace troupe
