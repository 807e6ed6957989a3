// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/profile_draft.hpp>
#include <troupe/runtime/profile_extension.hpp>

#include <string_view>
#include <utility>

namespace troupe::internal {

using nlohmann::json;

void profile_draft::fail(errc code, const std::string& what) {
  if (!fault_)
    fault_ = error{code, "Agent '" + owner_ + "': " + what};
}

std::shared_ptr<const json_schema> profile_draft::compile(const json& schema, const std::string& what) {
  auto compiled = json_schema::compile(schema);
  if (compiled)
    return std::make_shared<const json_schema>(std::move(*compiled));
  fail(errc::bad_schema, "the schema of " + what + " cannot be used: " + compiled.failure().message);
  return nullptr;
}

std::shared_ptr<const json_schema> profile_draft::schema_of(const tool_definition& tool) {
  return tool.compiled ? tool.compiled : compile(tool.parameters, "tool '" + tool.name + "'");
}

void profile_draft::add(const bound_tool& tool) {
  profile.has_exclusive_tools |= tool.function->annotations.exclusive;
  declarations_.push_back({tool.function->name, tool.function->description, tool.function->parameters});
  profile.tools.emplace(tool.function->name, tool);
}

void profile_draft::add(tool_route route, std::string name, std::string description, json parameters,
                        agent_profile_ptr child) {
  if (profile.tools.contains(name))
    return fail(errc::name_clash, "two tools are named '" + name + "'.");
  bound_tool bound{route, nullptr, compile(parameters, "tool '" + name + "'"), std::move(child)};
  profile.tools.emplace(name, std::move(bound));
  declarations_.push_back({std::move(name), std::move(description), std::move(parameters)});
}

void profile_draft::add_function(const tool_ptr& tool) {
  if (profile.tools.contains(tool->name))
    return fail(errc::name_clash, "two tools are named '" + tool->name + "'.");
  if (auto schema = schema_of(*tool))
    add(bound_tool{tool_route::function, tool, std::move(schema), nullptr});
}

void profile_draft::add_skills(const skill_map& skills) {
  for (const auto& tool : skill_tools(skills))
    add_function(tool);
  profile.appendix = skills_prompt(skills);
}

agent_profile_ptr profile_draft::finish(std::string system) {
  system += profile.appendix;
  auto head = std::make_shared<prompt_head>();
  head->system = system;
  head->tools = declarations_;
  auto grace = std::make_shared<prompt_head>();
  grace->system = std::move(system);
  for (const auto& d : declarations_)
    if (d.name == "finish_task")
      grace->tools.push_back(d);
  if (!profile.offers.empty())
    profile.extended = std::make_shared<profile_extensions>();
  profile.head = std::move(head);
  profile.grace_head = std::move(grace);
  return std::make_shared<const agent_profile>(std::move(profile));
}

} // namespace troupe::internal
