// The scenario model: plays a YAML file of rules, without a network and without a key.
//
//   rules:
//     - name: survey                      # for messages
//       match:                            # all that stand here must fit; without match, always
//         agent: "*"                      # glob on the agent's name
//         turn: 0                         # model calls of this agent before this one
//         text: "(?i)survey (?P<what>.+)" # RE2, searched in the last text of the user; its named groups are
//                                         # values
//         system: "…"                     # RE2, searched in the instruction
//         tool: list_directory            # the last results hold one of this tool
//         offers: spawn_subagent          # the agent may call this tool
//       latency: 20ms                     # or {min: 10ms, max: 50ms, seed: 7}: chosen by seed, agent, turn
//                                         # and text
//       error: {code: model_unavailable, times: 2, retry_after: 1s}   # the first times only; always without
//                                         # `times`
//       chunks: 8                         # pieces of a streamed answer
//       reply:
//         think: "…"
//         text: "…"                       # or a list of texts and of {for_each, where, line}
//         json: {…}                       # instead of text: an object as the answer
//         calls:
//           - {tool: glob, args: {path: "{{ what }}"}, for_each: "results.list_directory[0].entries",
//              where: {type: folder}}
//         finish: stop                    # stop, tool_calls, length, filtered
//
// Texts hold templates, {{ expression }}. Values: text (the user's last), agent, turn, the named groups, item
// and index within for_each, and results.<tool>: a list of what that tool gave in the whole conversation, as
// JSON where it is JSON. Access: a.b, a["b"], a[0], a[-1]; text that is JSON opens by itself; what is missing
// is null. Functions, and no other computing: count(list), sum(list, "field"), max_by(list, "field"),
// sort_by(list, "field"[, "desc"]) and format("{} of {:slug}", …), with {:json}, {:slug}, {:<12} and {:>6}. A
// text that is one template keeps its type.
//
// The first rule that fits answers. When none does, the call fails with model_bad_request and the rules
// tried.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/ports/model_provider.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace troupe {

// Fails with bad_config; the message has one line for each mistake, with `origin`, line and key. The provider
// is thread-safe, answers through `clock` only (which outlives it) and has no state but the counts of
// `times`.
[[nodiscard]] result<std::shared_ptr<model_provider>> load_scenario(std::string_view yaml,
                                                                    const std::string& origin, timer& clock);

// The scenario that plays when nothing else is configured: surveys a workspace with one subagent for each
// folder, and says to everything else what it is and how to configure a real model.
[[nodiscard]] std::string_view builtin_scenario() noexcept;

} // namespace troupe
