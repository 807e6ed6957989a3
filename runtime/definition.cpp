// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/definition.hpp>

namespace troupe {

agent_definition to_definition(const subagent_spec& spec) {
  agent_definition d;
  d.name = spec.name;
  d.goal = spec.goal;
  d.instruction = spec.instruction;
  d.description = spec.description;
  d.model = spec.model;
  d.mode = spec.mode;
  d.tools = spec.tools;
  d.skills = spec.skills;
  d.thinking = spec.thinking;
  d.use_sandbox = spec.use_sandbox;
  d.input_schema = spec.input_schema;
  d.output_schema = spec.output_schema;
  d.limits = spec.limits;
  return d;
}

agent_definition to_definition(const remote_agent_spec& spec) {
  agent_definition d;
  d.name = spec.name;
  d.kind = agent_kind::remote;
  d.description = spec.description;
  d.remote = {{"allow_private", spec.allow_private},
              {"max_concurrency", spec.max_concurrency},
              {"max_hops", spec.max_hops},
              {"timeout_ms", spec.timeout.count()}};
  if (!spec.card_url.empty())
    d.remote["agent_card_url"] = spec.card_url;
  if (!spec.card.is_null())
    d.remote["agent_card_json"] = spec.card;
  if (!spec.auth.is_null())
    d.remote["auth"] = spec.auth;
  return d;
}

std::string_view to_string(agent_kind kind) noexcept {
  switch (kind) {
  case agent_kind::remote:
    return "remote";
  case agent_kind::browser:
    return "browser";
  case agent_kind::local:
    break;
  }
  return "local";
}

std::optional<agent_kind> agent_kind_from_string(std::string_view text) noexcept {
  for (auto kind : {agent_kind::local, agent_kind::remote, agent_kind::browser})
    if (to_string(kind) == text)
      return kind;
  return std::nullopt;
}

std::string_view to_string(agent_mode mode) noexcept {
  return mode == agent_mode::task ? "task" : "single_turn";
}

std::optional<agent_mode> agent_mode_from_string(std::string_view text) noexcept {
  for (auto mode : {agent_mode::single_turn, agent_mode::task})
    if (to_string(mode) == text)
      return mode;
  return std::nullopt;
}

std::optional<thinking_level> thinking_level_from_string(std::string_view text) noexcept {
  if (text == "automatic")
    return thinking_level::automatic;
  if (text == "off")
    return thinking_level::off;
  if (text == "low")
    return thinking_level::low;
  if (text == "medium")
    return thinking_level::medium;
  if (text == "high")
    return thinking_level::high;
  return std::nullopt;
}

std::string_view to_string(definition_origin origin) noexcept {
  switch (origin) {
  case definition_origin::built_in:
    return "built in";
  case definition_origin::project:
    return "project";
  case definition_origin::user:
    return "user";
  case definition_origin::code:
    break;
  }
  return "code";
}

std::optional<on_background_result> on_background_result_from_string(std::string_view text) noexcept {
  if (text == "wake")
    return on_background_result::wake;
  if (text == "next_run")
    return on_background_result::next_run;
  return std::nullopt;
}

} // namespace troupe
