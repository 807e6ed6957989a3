// What surfaces show of events and texts: secrets masked, and on a terminal control characters inert.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace troupe {

// Text of models, tools and users, for a terminal or a pipe.
[[nodiscard]] std::string shown(std::string_view text);

// An event as one JSON value; its texts are masked, ids and names are not touched.
[[nodiscard]] nlohmann::json shown_json(const event& e);

// The schema of a question: its words masked as texts, and defaults of properties that are secrets.
[[nodiscard]] nlohmann::json shown_schema(const nlohmann::json& schema);

// An event as one line.
[[nodiscard]] std::string shown_line(const event& e);

} // namespace troupe
