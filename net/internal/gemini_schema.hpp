// From JSON Schema to the subset of OpenAPI's schemas that older Gemini models take (Schema in Google's API
// reference).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace troupe::net {

// References are put in place, up to a depth of 16 (a schema that refers to itself ends there with any object);
// what the subset lacks is left out, so the result allows at least what `schema` does.
[[nodiscard]] nlohmann::json to_gemini_schema(const nlohmann::json& schema);

} // namespace troupe::net
