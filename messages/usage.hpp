// Token counts and cost of one model call, or the sum of many.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

namespace troupe {

// `input` includes `cached`, and `output` includes `reasoning`, whatever a provider's own convention is.
struct usage {
  std::uint64_t input = 0;
  std::uint64_t cached = 0;
  std::uint64_t output = 0;
  std::uint64_t reasoning = 0;
  std::uint64_t cost_nano_usd = 0; // 1e-9 US dollars, where the model has a price

  [[nodiscard]] std::uint64_t total() const noexcept { return input + output; }
  usage& operator+=(const usage& other) noexcept {
    input += other.input;
    cached += other.cached;
    output += other.output;
    reasoning += other.reasoning;
    cost_nano_usd += other.cost_nano_usd;
    return *this;
  }
  friend bool operator==(const usage&, const usage&) = default;
};

void to_json(nlohmann::json& j, const usage& u);
void from_json(const nlohmann::json& j, usage& u);

} // namespace troupe
