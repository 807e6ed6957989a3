// What several workloads have in common: a root with many children whose model is in the process, and the count of a log.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>
#include <troupe/troupe.hpp>

#include <cstdint>
#include <string>

namespace troupe::bench {

// The tool of children: a number's look-up that costs nothing.
[[nodiscard]] tool_ptr lookup();

// A tool without arguments that costs nothing.
[[nodiscard]] tool_ptr note();

// A root "root" with a subagent "subagent" that has the tool, both with the model "inside".
[[nodiscard]] deep_agent fan_out_team(std::uint32_t children, std::uint32_t tool_turns);

// What its model answers: the root begins all children in its first turn; a child calls its tool for `tool_turns` turns
// and then says that it is done. `note` stands in what children are asked.
[[nodiscard]] model_response child_turns(const model_request& request, std::uint32_t children,
                                         std::uint32_t tool_turns, const std::string& note = {});

// What the log holds, counted as the observer counts.
[[nodiscard]] activity_counts count_log(session_store& store, const session_id& session);

} // namespace troupe::bench
