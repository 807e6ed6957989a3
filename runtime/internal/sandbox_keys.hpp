// The keys of what tools may reach: the sandbox, and the pages of fetch_url.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/config.hpp>
#include <troupe/runtime/internal/yaml_reader.hpp>

#include <span>

namespace troupe::internal {

[[nodiscard]] std::span<const yaml_key<sandbox_config>> sandbox_keys() noexcept;
[[nodiscard]] std::span<const yaml_key<fetch_config>> fetch_keys() noexcept;

} // namespace troupe::internal
