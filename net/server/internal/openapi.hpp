// The description of the API for machines (OpenAPI 3.1), made from the table of routes, so that both say the same.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace troupe::net {

// The schemas of what is asked and answered, by name.
[[nodiscard]] const char* openapi_schemas() noexcept;

[[nodiscard]] nlohmann::json openapi_document(const std::string& version);

} // namespace troupe::net
