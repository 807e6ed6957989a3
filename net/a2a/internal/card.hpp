// The agent card: who a remote agent is, where it is reached and how. Pure.
//
// Protocol: AgentCard of 1.0 (supportedInterfaces) and of 0.3 (url, preferredTransport, additionalInterfaces).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net::a2a {

enum class binding : std::uint8_t { json_rpc, http_json, grpc, other };
enum class protocol : std::uint8_t { v1, v03, other };

struct card_interface {
  std::string url;
  binding how = binding::other;
  protocol version = protocol::v1;
  std::string tenant{};

  friend bool operator==(const card_interface&, const card_interface&) = default;
};

struct card_skill {
  std::string name;
  std::string description;
};

struct agent_card {
  std::string name;
  std::string description{};
  std::vector<card_interface> interfaces{}; // in the order of preference
  bool streaming = false;
  std::vector<card_skill> skills{};
  nlohmann::json security_schemes{}; // name → scheme; null: none
  nlohmann::json requirements{};     // list of alternatives; null: none
};

struct card_limits {
  std::size_t max_bytes = std::size_t{1} << 20;
  std::size_t max_depth = 32;
  std::size_t max_interfaces = 32;
  std::size_t max_skills = 256;
};

// Fails with model_bad_response; the message names the member that is missing or wrong.
[[nodiscard]] result<agent_card> parse_card(std::string_view text, const card_limits& limits = {});
[[nodiscard]] result<agent_card> read_card(const nlohmann::json& card, const card_limits& limits = {});

// The first interface that is spoken here: JSON-RPC or HTTP+JSON, of 1.x or 0.3. Fails with protocol; a card with gRPC
// only is told so, and that credentials are never sent over it.
[[nodiscard]] result<card_interface> choose_interface(const agent_card& card, bool has_auth);

// Kinds of authentication that the card asks for, for messages: "http bearer or apiKey (header X-Key)"; empty: none.
[[nodiscard]] std::string wanted_auth(const agent_card& card);

// The description that agents choose by: the user's and the card's, with the names of skills; one line, at most
// `max_bytes`.
[[nodiscard]] std::string describe_card(const agent_card& card, std::size_t max_bytes);

} // namespace troupe::net::a2a
