// Readers of the member that is named, for tables of keys.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/internal/yaml_reader.hpp>

#include <chrono>

namespace troupe::internal {

template <auto Member>
inline constexpr auto plain =
    [](yaml_reader& r, const yaml_value& in, auto& out) { r.read(in, out.*Member); };

template <auto Member, auto Least, auto Most>
inline constexpr auto number =
    [](yaml_reader& r, const yaml_value& in, auto& out) { r.read(in, out.*Member, Least, Most); };

template <auto Member, int LeastMs = 0>
inline constexpr auto duration = [](yaml_reader& r, const yaml_value& in, auto& out) {
  r.read(in, out.*Member, std::chrono::milliseconds{LeastMs});
};

} // namespace troupe::internal
