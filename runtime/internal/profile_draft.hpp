// A profile while it is put together.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/agent_profile.hpp>
#include <troupe/runtime/skill.hpp>

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::internal {

// The first error is kept and ends the work. Not thread-safe.
class profile_draft {
 public:
  explicit profile_draft(std::string owner) : owner_(std::move(owner)) {}

  [[nodiscard]] std::optional<error>& fault() { return fault_; }
  void fail(errc code, const std::string& what);

  // Null, and an error, when the schema of `what` cannot be used.
  std::shared_ptr<const json_schema> compile(const nlohmann::json& schema, const std::string& what);
  // Where somebody has compiled the schema, that is used.
  std::shared_ptr<const json_schema> schema_of(const tool_definition& tool);

  // A function whose schema has been compiled.
  void add(const bound_tool& tool);
  void add(tool_route route, std::string name, std::string description, nlohmann::json parameters,
           agent_profile_ptr child = nullptr);
  void add_function(const tool_ptr& tool);
  // Instructions that the agent loads when it needs them.
  void add_skills(const skill_map& skills);

  // The profile, with what models are told; the draft is empty then.
  agent_profile_ptr finish(std::string system);

  agent_profile profile;

 private:
  std::string owner_;
  std::optional<error> fault_;
  std::vector<tool_declaration> declarations_;
};

} // namespace troupe::internal
