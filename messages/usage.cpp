// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/internal/json_fields.hpp>
#include <troupe/messages/usage.hpp>

#include <nlohmann/json.hpp>

namespace troupe {

void to_json(nlohmann::json& j, const usage& u) {
  internal::write_tree(j, u);
}

void from_json(const nlohmann::json& j, usage& u) {
  u.input = j.value("input", std::uint64_t{0});
  u.cached = j.value("cached", std::uint64_t{0});
  u.output = j.value("output", std::uint64_t{0});
  u.reasoning = j.value("reasoning", std::uint64_t{0});
  u.cost_nano_usd = j.value("cost_nano_usd", std::uint64_t{0});
}

} // namespace troupe
