// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/delegate.hpp>
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/profile_builder.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <set>

namespace troupe {
namespace {

using nlohmann::json;

content_ptr text_request(std::string text) {
  return std::make_shared<const content>(make_text(role::user, std::move(text)));
}

template <class Map>
std::string names_of(const Map& map) {
  std::string names;
  for (const auto& [name, unused] : map)
    names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

std::vector<std::string> strings(const json& arguments, const char* key) {
  auto found = arguments.find(key);
  return found == arguments.end() || found->is_null() ? std::vector<std::string>{}
                                                      : found->get<std::vector<std::string>>();
}

result<std::vector<bound_tool>> choose_tools(const delegation& allowed, const json& arguments) {
  std::vector<bound_tool> chosen;
  std::set<std::string> named;
  const bool all = !arguments.contains("tool_names") || arguments["tool_names"].is_null();
  for (const auto& name : all ? allowed.allowed_tools : strings(arguments, "tool_names")) {
    auto found = allowed.pool.find(name);
    if (found == allowed.pool.end())
      return error{errc::unknown_tool,
                   "There is no tool '" + name +
                       "'. Tools that a spawned agent can have: " + names_of(allowed.pool) + "."};
    if (std::find(allowed.allowed_tools.begin(), allowed.allowed_tools.end(), name) ==
        allowed.allowed_tools.end())
      return error{errc::not_allowed, "A spawned agent may not have the tool '" + name + "'."};
    if (named.insert(name).second)
      chosen.push_back(found->second);
  }
  return chosen;
}

// The same agent with another system text.
agent_profile_ptr with_instruction(const agent_profile& profile, std::string system) {
  auto changed = std::make_shared<agent_profile>(profile);
  auto head = std::make_shared<prompt_head>(*profile.head);
  auto grace = std::make_shared<prompt_head>(*profile.grace_head);
  system += profile.appendix;
  head->system = system;
  grace->system = std::move(system);
  changed->extended = nullptr;
  changed->head = std::move(head);
  changed->grace_head = std::move(grace);
  return changed;
}

} // namespace

child_order order_prebuilt(const agent_profile_ptr& child, const json& arguments) {
  if (child->input == nullptr)
    return {child, text_request(arguments.at("request").get<std::string>())};
  return {child, text_request(dump_json(arguments))};
}

result<child_order> order_dispatch(const agent_profile& parent, const json& arguments) {
  const auto name = arguments.at("agent_name").get<std::string>();
  const auto prompt = arguments.at("prompt").get<std::string>();
  const auto& agents = parent.delegates->agents;
  auto found = agents.find(name);
  if (found == agents.end())
    return error{errc::unknown_agent, "There is no agent '" + name + "'. Agents: " + names_of(agents) + "."};
  const auto& child = found->second;
  const json mapped = {{child->input_key, prompt}};
  if (child->input != nullptr)
    if (auto fits =
            child->input->validate(mapped, errc::bad_arguments, "The prompt for agent '" + name + "'");
        !fits)
      return fits.failure();
  if (child->instruction == nullptr)
    return child_order{child, text_request(prompt)};
  auto values = child->instruction_values;
  values.insert_or_assign(child->input_key, prompt);
  auto system = child->instruction->render(values);
  if (!system)
    return std::move(system).failure();
  return child_order{with_instruction(*child, std::move(*system)), text_request(prompt)};
}

bool in_background(const json& arguments) {
  auto found = arguments.find("background");
  return found != arguments.end() && found->is_boolean() && found->get<bool>();
}

result<child_order> order_spawn(const agent_profile& parent, const json& arguments,
                                const std::vector<std::string>& running) {
  const auto& allowed = *parent.delegates;
  const auto name = arguments.at("name").get<std::string>();
  if (!valid_identifier(name) || name == "user")
    return error{errc::bad_arguments,
                 "The name '" + name +
                     "' cannot be used: a name is letters, digits and '_', does not begin with a "
                     "digit and is not 'user'."};
  auto has = [&name](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has(allowed.taken_names) || has(running))
    return error{errc::name_clash, "The name '" + name + "' is taken by another agent; choose a new one."};
  skill_map skills;
  for (const auto& wanted : strings(arguments, "skill_names")) {
    auto skill = allowed.skills.find(wanted);
    if (skill == allowed.skills.end())
      return error{errc::unknown_skill,
                   "There is no skill '" + wanted +
                       "'. Skills that a spawned agent can have: " + names_of(allowed.skills) + "."};
    skills.insert(*skill);
  }
  auto tools = choose_tools(allowed, arguments);
  if (!tools)
    return std::move(tools).failure();
  auto model = arguments.value("model", json{});
  auto model_id = model.is_string() && !model.get_ref<const std::string&>().empty() ? model.get<std::string>()
                                                                                    : parent.model;
  if (model_id != parent.model && !allowed.models.contains(model_id))
    return error{errc::unknown_model,
                 "There is no model '" + model_id + "'. Models: " + names_of(allowed.models) + "."};
  auto context = arguments.value("context", json{});
  return child_order{
      build_spawned(parent, name, model_id, *tools, skills),
      text_request(prompt_text::spawned_request(arguments.at("goal").get<std::string>(),
                                                context.is_string() ? context.get<std::string>() : ""))};
}

} // namespace troupe
