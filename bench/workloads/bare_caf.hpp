// CAF alone, for comparison with what the runtime makes of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::bench {

// One-shot actors a second: spawned and monitored by one actor that sends each a request with a deadline; it answers and
// ends. As many as `at_once` are alive at once. The scheduler's settings are the runtime's.
[[nodiscard]] double bare_one_shots_per_s(std::uint64_t n, std::uint32_t at_once = 64);

} // namespace troupe::bench
