// The ids of traces and spans, made of a seed and our own ids, so that whoever needs one makes it and nobody keeps any:
// the trace of a run, the span of an agent in it, of a call of a model or a tool.
//
// Ids are hexadecimal: 32 digits for a trace, 16 for a span, never all zeros (W3C Trace Context, level 1). Two engines
// have different seeds, so the same session name gives different ids in each. They are no secrets.
//
// Pure functions, but for make_trace_seed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/ids.hpp>

#include <string>
#include <string_view>

namespace troupe {

// 128 random bits, as 32 hexadecimal digits. One an engine.
[[nodiscard]] std::string make_trace_seed();

// A run of a root agent and all that it sets in motion is one trace.
[[nodiscard]] std::string trace_id_of(std::string_view seed, const run_id& run);

[[nodiscard]] std::string agent_span_id(std::string_view seed, const run_id& run, const agent_id& agent);
[[nodiscard]] std::string tool_span_id(std::string_view seed, const session_id& session, const call_id& call);
// `event` is the id of the event that tells of the model call.
[[nodiscard]] std::string chat_span_id(std::string_view seed, std::string_view event);

// The header `traceparent` for what a tool call sends on: version 00, the call's span, sampled.
[[nodiscard]] std::string traceparent(std::string_view seed, const run_id& run, const session_id& session,
                                      const call_id& call);

} // namespace troupe
