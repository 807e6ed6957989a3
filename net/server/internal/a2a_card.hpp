// The card of an agent of this server. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace troupe::net {

struct a2a_card_facts {
  std::string agent;
  std::string description;
  std::string base_url; // of the server, without a final slash
  std::string version;
  bool needs_token = false;
};

// For clients of 1.0 and of 0.3 at once: the members of both.
[[nodiscard]] nlohmann::json make_a2a_card(const a2a_card_facts& facts);

} // namespace troupe::net
