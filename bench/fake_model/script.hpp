// What the fake model says: an answer that follows from the conversation alone.
//
// The last text of the user (or system) that holds a JSON object beginning with {"plan" is the directive; it may stand
// within other text, once escaped at most. The number of assistant messages after it is the turn.
//
//   {"plan":"fanout","n":N,"tool":"subagent","args_key":"request","child_turns":3,"child_tool":"lookup"}
//       n calls of `tool` in one turn, whose argument holds a directive of its own; then "root-ok … children_ok=N …"
//   {"plan":"child" | "loop","i":I,"turns":T,"tool":"lookup"}
//       T-1 turns of one call of `tool`, then "child-ok …" or "loop-ok …"
//   {"plan":"stream","i":I,"chunks":K,"chunk_bytes":B,"chunk_gap_us":G}
//       a text of K pieces; with "stamp":true each piece is the time at which it was written, as "@" ("#" for the first)
//       and 16 hexadecimal digits, nanoseconds of the steady clock; the first comes "offset_us" later
//   {"plan":"background","n":N,"turns":T,"child_turns":3,"child_tool":"lookup"}
//       N calls of spawn_subagent in the background in one turn, then T turns of one call of `note`, then
//       "root-ok children_ok=N", which counts the results that messages of the user have told
//
// latency_ms is the time to the first byte; children get it with their directive. Without a directive: "ok".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json/object.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fake_model {

struct tool_call {
  std::string name;
  std::string arguments;
};

struct answer {
  std::vector<tool_call> calls;
  std::vector<std::string> text; // its pieces
  std::chrono::microseconds latency{0};
  std::chrono::microseconds chunk_gap{0};
  bool stamped = false; // pieces hold the time at which they are written
  std::uint64_t turn = 0;
};

// `request` is the body of an OpenAI chat completion. Throws where it is none.
[[nodiscard]] answer make_answer(const boost::json::object& request);

// The directive in a text, as JSON; empty when there is none.
[[nodiscard]] std::string find_directive(std::string_view text);

} // namespace fake_model
