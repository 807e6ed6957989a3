// What `troupe top` shows: the sessions of a server or the agents of one, as lines of text.
//
// Pure; not thread-safe. Texts of the server are untrusted: control characters are escaped, and lines cut to the width.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {

// `text` on one line, cut and filled to exactly `width` characters.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

struct top_state {
  nlohmann::json snapshot; // as /v1/snapshot gives it
  std::string session;     // whose agents are shown; empty: all sessions
  std::size_t chosen = 0;  // the line that commands are about
  std::string note;        // what came of the last command
};

// How many lines can be chosen.
[[nodiscard]] std::size_t row_count(const top_state& state);
// The session that commands are about; empty when there is none.
[[nodiscard]] std::string chosen_session(const top_state& state);
// The open question of that session, or null.
[[nodiscard]] nlohmann::json open_question(const top_state& state);

// The lines of a screen; the chosen one is marked with '>' at its front.
// The snapshot with its rows as they are shown: sessions by their group, agents that work before those that have ended, the
// root first.
[[nodiscard]] nlohmann::json in_order(nlohmann::json snapshot);

[[nodiscard]] std::vector<std::string> top_lines(const top_state& state, std::size_t width,
                                                 std::size_t height);

} // namespace troupe::cli
