// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/spawn_tool.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <string>
#include <utility>

namespace troupe {

using nlohmann::json;

json object_schema(json properties, json required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

json text_property(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

namespace {

json name_list(std::string description) {
  return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", std::move(description)}};
}

} // namespace

json spawn_schema(const delegation& allowed) {
  std::string models;
  for (const auto& [id, description] : allowed.models)
    models += " " + id + (description.empty() ? "" : " (" + description + ")") + ";";
  std::string skills;
  for (const auto& [name, skill] : allowed.skills)
    skills += " " + name + " (" + skill->description + ");";
  auto schema = object_schema(
      {{"name", text_property("A new name for the agent: letters, digits and '_'.")},
       {"goal", text_property("What the agent is to achieve, and the form of its answer.")},
       {"context", text_property("What it needs to know besides.")},
       {"tool_names", name_list("Tools that the agent gets; all of these when left out: " +
                                list_names(allowed.allowed_tools, allowed.allowed_tools.size()) + ".")},
       {"model", text_property("The model that it uses; yours when left out. Models:" + models)},
       {"background",
        {{"type", "boolean"},
         {"description", "True: the agent works on while you go on; you get its result later, by itself."}}}},
      {"name", "goal"});
  // Also without skills, so that a call that names some gets the error that says so.
  schema["properties"]["skill_names"] = name_list(
      skills.empty() ? "There are no skills." : "Skills that the agent gets; none when left out:" + skills);
  return schema;
}

} // namespace troupe
