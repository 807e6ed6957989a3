// When a failed model call is tried again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/model_provider.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace troupe {

struct retry_policy {
  std::uint32_t max_retries = 4;
  std::chrono::milliseconds first_delay{500};
  std::chrono::milliseconds max_delay{30'000};
  std::chrono::milliseconds max_retry_after{120'000}; // a service that asks for more is given up

  // The wait before try `attempt` + 1 (the first try is 1), or nothing when the call has failed for good.
  // `uniform` is a random number in [0, 1): the delay doubles with each attempt and is spread over its upper half, so
  // that many agents do not come back at once. A wait that the service asked for is kept, and spread by a tenth.
  [[nodiscard]] std::optional<std::chrono::milliseconds>
  delay(std::uint32_t attempt, const model_error& error, double uniform) const;
};

} // namespace troupe
