// What the tool spawn_subagent says of itself, and the shapes of schemas that the runtime's own tools have. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/agent_profile.hpp>

#include <nlohmann/json.hpp>

#include <string_view>

namespace troupe {

// An object that has these properties and no others.
[[nodiscard]] nlohmann::json object_schema(nlohmann::json properties, nlohmann::json required);
[[nodiscard]] nlohmann::json text_property(std::string_view description);

// The parameters of spawn_subagent: with the tools, skills and models that are allowed.
[[nodiscard]] nlohmann::json spawn_schema(const delegation& allowed);

} // namespace troupe
