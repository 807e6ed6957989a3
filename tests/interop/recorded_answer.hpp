// What an answer says, in a form in which what we make of it and what a service's own client makes of it can be
// compared.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "net/recorded.hpp"

namespace troupe::test {

// Ours.
[[nodiscard]] nlohmann::json describe(const model_record& record);

// What is different from `theirs`, a line of the oracle, for a body that came with `status`; empty when both agree.
[[nodiscard]] std::string difference(const model_record& ours, const nlohmann::json& theirs, int status);

} // namespace troupe::test
