// From a delegating call to the child that it asks for. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/agent_profile.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <string>

namespace troupe {

struct child_order {
  agent_profile_ptr profile;
  content_ptr request;
};

// A prebuilt child: `arguments` have been checked against its input schema.
[[nodiscard]] child_order order_prebuilt(const agent_profile_ptr& child, const nlohmann::json& arguments);

// invoke_agent: the prompt is mapped to the child's input schema and checked.
[[nodiscard]] result<child_order> order_dispatch(const agent_profile& parent,
                                                 const nlohmann::json& arguments);

// True when the arguments of a spawn_subagent call ask for background work.
[[nodiscard]] bool in_background(const nlohmann::json& arguments);

// spawn_subagent: a profile for this one call. `running` are names that running children have.
[[nodiscard]] result<child_order> order_spawn(const agent_profile& parent, const nlohmann::json& arguments,
                                              const std::vector<std::string>& running);

} // namespace troupe
