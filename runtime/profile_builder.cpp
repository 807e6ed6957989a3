// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/ascii_text.hpp>
#include <troupe/runtime/internal/agent_offers.hpp>
#include <troupe/runtime/internal/profile_draft.hpp>
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/internal/spawn_tool.hpp>
#include <troupe/runtime/profile_builder.hpp>
#include <troupe/runtime/profile_extension.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace troupe {
namespace {

using internal::profile_draft;
using nlohmann::json;

constexpr std::array delegating_tools = {std::string_view{"invoke_agent"}, std::string_view{"spawn_subagent"},
                                         std::string_view{"list_background"},
                                         std::string_view{"cancel_background"}};
constexpr std::array never_spawned = {std::string_view{"request_input"}, std::string_view{"finish_task"},
                                      std::string_view{"todo"}};

// Agents of others may work for long.
constexpr std::chrono::milliseconds remote_timeout = std::chrono::minutes{30};

std::vector<std::string> keys(const std::map<std::string, std::string>& map) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : map)
    names.push_back(name);
  return names;
}

class root_builder {
 public:
  root_builder(const root_spec& spec, const build_environment& environment)
      : spec_(spec), environment_(environment), draft_(spec.name) {}

  result<built_root> build() {
    check_names();
    check_model(spec_.name, spec_.model);
    collect_tools();
    describe_root();
    if (!draft_.fault())
      add_subagents();
    if (!draft_.fault())
      add_registry();
    if (!draft_.fault() && spec_.spawn && spec_.spawn->enabled)
      add_spawn();
    if (draft_.fault())
      return *draft_.fault();
    if (!delegates_.agents.empty() || delegates_.may_spawn)
      draft_.profile.delegates = std::make_shared<const delegation>(std::move(delegates_));
    return built_root{draft_.finish(system_text()), std::move(warnings_), std::move(skipped_)};
  }

 private:
  void check_names() {
    if (!valid_identifier(spec_.name) || spec_.name == "user")
      draft_.fail(
          errc::bad_definition,
          "a root agent's name is letters, digits and '_', does not begin with a digit and is not 'user'.");
    std::set<std::string> names{spec_.name};
    for (const auto& child : spec_.subagents) {
      if (!valid_identifier(child.name) || child.name == "user")
        draft_.fail(errc::bad_definition,
                    "'" + child.name +
                        "' cannot name a subagent: letters, digits and '_', not beginning with a "
                        "digit, and not 'user'.");
      if (!names.insert(child.name).second)
        draft_.fail(errc::name_clash, "the name '" + child.name + "' is used twice.");
    }
    delegates_.taken_names.assign(names.begin(), names.end());
  }

  void check_model(const std::string& who, const std::string& model) {
    if (environment_.models.contains(model))
      return;
    auto known = keys(environment_.models);
    draft_.fail(errc::unknown_model, (who == spec_.name ? "" : "subagent '" + who + "': ") +
                                         "there is no model '" + model + "'." + did_you_mean(model, known) +
                                         " Models: " + list_names(known) + ".");
  }

  // Takes request_input, which is no function, out of a tool list; wildcards do not stand for it.
  static bool take_request_input(std::vector<tool_ref>& tools) {
    return std::erase_if(tools, [](const tool_ref& t) { return !t.tool() && t.name() == "request_input"; }) >
           0;
  }

  static void add_request_input(profile_draft& draft) {
    draft.add(tool_route::request_input, "request_input",
              "Asks the user and gives the answer. Use it only for what you cannot find out yourself.",
              object_schema({{"message", text_property("The question.")},
                             {"response_schema",
                              {{"type", "object"},
                               {"description", "JSON Schema of the answer; a text when left out."}}}},
                            {"message"}));
  }

  // Names and wildcards become tools; a name that means nothing is an error.
  std::vector<tool_ptr> resolve(const std::vector<tool_ref>& refs,
                                const std::map<std::string, tool_ptr>& available, const std::string& who) {
    std::vector<tool_ptr> found;
    std::set<std::string> seen;
    std::vector<std::string> names;
    for (const auto& [name, tool] : available)
      names.push_back(name);
    auto take = [&](const tool_ptr& tool) {
      if (seen.insert(tool->name).second)
        found.push_back(tool);
    };
    for (const auto& ref : refs) {
      if (ref.tool()) {
        if (ref.tool()->run == nullptr && ref.tool()->start == nullptr)
          draft_.fail(errc::bad_definition, who + "tool '" + ref.tool()->name + "' has no function.");
        take(ref.tool());
        continue;
      }
      if (is_one_of(delegating_tools, ref.name())) {
        draft_.fail(errc::not_allowed,
                    who + "'" + ref.name() + "' cannot stand in a tool list: only the root delegates.");
        continue;
      }
      std::vector<std::string> entry{ref.name()};
      auto selection = select_tools(entry, names);
      if (selection.names.empty() && !is_wildcard(ref.name()))
        draft_.fail(errc::unknown_tool, who + "there is no tool '" + ref.name() + "'." +
                                            did_you_mean(ref.name(), names) + " Tools: " + list_names(names) +
                                            ".");
      else if (selection.names.empty())
        warnings_.push_back(who + "'" + ref.name() + "' stands for no tool.");
      for (const auto& name : selection.names)
        take(available.at(name));
    }
    return found;
  }

  // Each instance of the agent has these servers for itself.
  void add_own_servers(profile_draft& draft, const std::vector<mcp_server_spec>& servers,
                       std::vector<tool_ref>& tools) {
    for (const auto& server : servers) {
      std::erase_if(tools, [&](const tool_ref& ref) {
        return !ref.tool() && ref.name() != "mcp_*" && internal::may_offer(server.name, ref.name());
      });
      if (!environment_.make_source)
        return draft.fail(errc::bad_definition,
                          "mcp_servers: there is nothing here that starts MCP servers.");
      auto made = environment_.make_source(server);
      if (!made)
        return draft.fail(made.failure().code, made.failure().message);
      draft.profile.offers.push_back({nullptr, *std::move(made), {}});
    }
  }

  skill_map find_skills(profile_draft& draft, const std::vector<std::string>& names, const std::string& who) {
    skill_map found;
    std::vector<std::string> known;
    for (const auto& [name, unused] : environment_.skills)
      known.push_back(name);
    for (const auto& name : names) {
      if (auto skill = environment_.skills.find(name); skill != environment_.skills.end())
        found.insert(*skill);
      else
        draft.fail(errc::unknown_skill, who + "there is no skill '" + name + "'." +
                                            did_you_mean(name, known) + " Skills: " + list_names(known) +
                                            ".");
    }
    return found;
  }

  // Commands run in the runtime's one sandbox, which the root shares with the children that use it.
  void add_sandbox(profile_draft& draft) {
    if (environment_.sandbox == nullptr)
      draft.fail(errc::bad_definition,
                 "use_sandbox: no sandbox is configured; set sandbox.backend, or leave use_sandbox out.");
    else if (!draft.profile.tools.contains(environment_.sandbox->name))
      draft.add_function(environment_.sandbox);
  }

  void collect_tools() {
    auto tools = spec_.tools;
    add_own_servers(draft_, spec_.mcp_servers, tools);
    root_offers_ = internal::choose_offers(tools, environment_.sources, true);
    draft_.profile.offers.insert(draft_.profile.offers.end(), root_offers_.begin(), root_offers_.end());
    if (take_request_input(tools))
      add_request_input(draft_);
    for (const auto& tool : resolve(tools, environment_.tools, "")) {
      root_tools_.emplace(tool->name, tool);
      draft_.add_function(tool);
    }
    if (spec_.use_sandbox)
      add_sandbox(draft_);
    root_skills_ = find_skills(draft_, spec_.skills, "");
    draft_.add_skills(root_skills_);
  }

  void describe_root() {
    auto& p = draft_.profile;
    p.name = spec_.name;
    p.kind = "root";
    p.description = spec_.description;
    p.model = spec_.model;
    p.limits = spec_.limits;
    p.thinking = spec_.thinking;
    p.temperature = spec_.temperature;
    p.rules = spec_.rules;
    p.before_and_after = spec_.before_and_after;
    p.compaction = spec_.compaction;
    if (!p.compaction.model.empty())
      check_model(spec_.name, p.compaction.model);
    if (spec_.limits.max_turns == 0)
      draft_.fail(errc::bad_definition, "max_turns must be at least 1.");
    if (!spec_.output_schema.is_null()) {
      p.output = draft_.compile(spec_.output_schema, "the answer");
      p.output_schema = std::make_shared<const json>(spec_.output_schema);
    }
  }

  void add_subagents() {
    for (const auto& child : spec_.subagents) {
      auto profile = build_child(to_definition(child), "prebuilt");
      if (profile == nullptr)
        return;
      auto schema =
          child.input_schema.is_null()
              ? object_schema(
                    {{"request", text_property("What the subagent is to do, with all that it needs to "
                                               "know: it sees nothing else.")}},
                    {"request"})
              : child.input_schema;
      auto description = profile->description;
      draft_.add(tool_route::prebuilt, child.name, std::move(description), std::move(schema),
                 std::move(profile));
    }
  }

  void add_registry() {
    std::string catalogue;
    for (const auto& definition : environment_.agents) {
      if (definition->kind == agent_kind::remote) {
        if (auto remote = build_remote(*definition)) {
          delegates_.taken_names.push_back(definition->name);
          catalogue += "\n- " + definition->name + ": " + remote->description;
          delegates_.agents.emplace(definition->name, std::move(remote));
        }
        continue;
      }
      auto profile = build_child(*definition, "registry");
      if (profile == nullptr) {
        // One bad file never stops the others.
        skipped_.push_back((definition->file.empty() ? "" : definition->file + ": ") +
                           draft_.fault()->message);
        draft_.fault().reset();
        continue;
      }
      delegates_.taken_names.push_back(definition->name);
      catalogue += "\n- " + definition->name + ": " + profile->description;
      delegates_.agents.emplace(definition->name, std::move(profile));
    }
    if (delegates_.agents.empty())
      return;
    draft_.add(
        tool_route::dispatch, "invoke_agent",
        "Delegates a task to a named agent and gives its result. Agents:" + catalogue,
        object_schema(
            {{"agent_name", text_property("The agent's name.")},
             {"prompt", text_property("The complete task: context, question and the form of the answer. "
                                      "The agent sees nothing else.")}},
            {"agent_name", "prompt"}));
  }

  // A child whose model is the remote agent. It has nothing of the root's but its rules and hooks, and sees nothing but the
  // request. Null when this runtime cannot reach it.
  agent_profile_ptr build_remote(const agent_definition& d) {
    const auto skip = [&](const std::string& why) -> agent_profile_ptr {
      skipped_.push_back((d.file.empty() ? "" : d.file + ": ") + why);
      return nullptr;
    };
    if (const auto broken = environment_.broken_remotes.find(d.name);
        broken != environment_.broken_remotes.end())
      return skip(broken->second);
    const auto found = environment_.remotes.find(d.name);
    if (found == environment_.remotes.end())
      return skip("Agent '" + d.name + "' is remote, and this runtime reaches no remote agents.");
    profile_draft child{d.name};
    auto& p = child.profile;
    p.name = d.name;
    p.kind = "registry";
    p.is_remote = true;
    p.model = found->second.model;
    p.description = prompt_text::remote_description(d.description, found->second.description);
    p.limits = d.limits;
    p.limits.timeout = std::chrono::milliseconds{d.remote.value("timeout_ms", remote_timeout.count())};
    p.rules = spec_.rules;
    p.before_and_after = spec_.before_and_after;
    add_request_input(child);
    agent_definition takes;
    takes.input_schema = d.input_schema;
    add_schemas(child, takes);
    if (child.fault())
      return skip(child.fault()->message);
    return child.finish({});
  }

  void add_spawn() {
    const auto& config = *spec_.spawn;
    auto pool = root_tools_;
    auto listed = config.tools;
    // Tools of the root's offers come into the pool when they are known; others cannot be had by spawned agents alone.
    for (const auto& offer : internal::choose_offers(listed, environment_.sources, false))
      if (std::none_of(root_offers_.begin(), root_offers_.end(),
                       [&](const tool_offer& has) { return has.shared == offer.shared; }))
        warnings_.push_back("spawn: the root has no tools of MCP server '" + offer.shared->name() +
                            "', so spawned agents have none either.");
    for (const auto& tool : resolve(listed, environment_.tools, "spawn: "))
      pool.emplace(tool->name, tool);
    if (environment_.sandbox != nullptr)
      pool.emplace(environment_.sandbox->name, environment_.sandbox);
    std::erase_if(pool, [](const auto& entry) { return is_one_of(never_spawned, entry.first); });
    delegates_.may_spawn = true;
    for (const auto& [name, tool] : pool)
      delegates_.pool.emplace(name, bound_tool{tool_route::function, tool, draft_.schema_of(*tool), nullptr});
    std::vector<std::string> available;
    for (const auto& [name, tool] : delegates_.pool)
      available.push_back(name);
    delegates_.allowed_tools = available;
    delegates_.allowed_names = config.allowed_tools;
    if (!config.allowed_tools.empty()) {
      auto selection = select_tools(config.allowed_tools, available);
      for (const auto& name : selection.unmatched)
        if (!is_wildcard(name) && !internal::may_offer(environment_.sources, name))
          draft_.fail(errc::unknown_tool, "spawn: allowed_tools names '" + name +
                                              "', which is not among the tools: " + list_names(available) +
                                              ".");
      delegates_.allowed_tools = std::move(selection.names);
    }
    delegates_.models = environment_.models;
    choose_skills(config);
    draft_.add(tool_route::spawn, "spawn_subagent",
               "Makes a new agent for one focused job and gives its result. It works in its own context, "
               "knows only what "
               "you tell it, cannot ask you and cannot delegate. Call it several times in one turn to work "
               "in parallel.",
               spawn_schema(delegates_));
    add_background_tools();
  }

  // The root's skills and those for spawned agents only, as far as they are allowed.
  void choose_skills(const spawn_config& config) {
    auto pool = root_skills_;
    pool.merge(find_skills(draft_, config.skills, "spawn: "));
    for (const auto& name : config.allowed_skills)
      if (!pool.contains(name))
        draft_.fail(errc::unknown_skill,
                    "spawn: allowed_skills names '" + name + "', which is not among the skills.");
    for (auto& [name, skill] : pool)
      if (config.allowed_skills.empty() ||
          std::find(config.allowed_skills.begin(), config.allowed_skills.end(), name) !=
              config.allowed_skills.end())
        delegates_.skills.emplace(name, skill);
  }

  void add_background_tools() {
    draft_.add(tool_route::list_background, "list_background",
               "Lists the agents that you started in the background and what became of them.",
               object_schema(json::object(), json::array()));
    draft_.add(tool_route::cancel_background, "cancel_background",
               "Ends an agent that works in the background.",
               object_schema({{"task_id", text_property("The task_id that its start gave.")}}, {"task_id"}));
  }

  // A child that is declared: its tools come from the root's ordinary tools and the environment.
  agent_profile_ptr build_child(const agent_definition& d, const std::string& kind) {
    profile_draft child{d.name};
    auto& p = child.profile;
    p.name = d.name;
    p.kind = kind;
    p.model = d.model.empty() || d.model == "inherit" ? spec_.model : d.model;
    check_model(d.name, p.model);
    p.mode = d.mode;
    p.limits = d.limits;
    p.thinking = d.thinking;
    p.temperature = d.temperature;
    p.rules = spec_.rules;
    p.before_and_after = spec_.before_and_after;
    p.compaction = spec_.compaction;
    p.description = !d.description.empty() ? d.description : prompt_text::description_from_goal(d.goal);
    if (d.goal.empty() && d.instruction.empty())
      child.fail(errc::bad_definition, "it needs a goal or an instruction.");
    auto declared = d;
    if (declared.tools && take_request_input(*declared.tools))
      add_request_input(child);
    if (d.kind == agent_kind::browser)
      add_browser(child, declared);
    add_offers(child, declared);
    for (const auto& tool : child_tools(declared))
      child.add_function(tool);
    if (d.use_sandbox)
      add_sandbox(child);
    child.add_skills(find_skills(child, d.skills, ""));
    add_schemas(child, d);
    if (child.fault()) {
      draft_.fail(child.fault()->code, child.fault()->message);
      return nullptr;
    }
    if (draft_.fault())
      return nullptr;
    return child.finish(instruct(child, declared));
  }

  // A browser of its own for each instance, and no tools of the root unless it names some.
  void add_browser(profile_draft& child, agent_definition& d) {
    if (!d.tools)
      d.tools.emplace();
    d.instruction = browser_instruction(d.browser, d.instruction.empty() ? d.goal : d.instruction);
    child.profile.newest_only = page_tools();
    if (!environment_.make_source)
      return child.fail(errc::bad_definition, "there is nothing here that starts the server of a browser.");
    auto server = environment_.make_source(browser_server(d.browser, environment_.as_root));
    if (!server)
      return child.fail(server.failure().code, server.failure().message);
    auto made = guarded_browser(d.browser, *std::move(server));
    if (!made)
      return child.fail(made.failure().code, made.failure().message);
    child.profile.offers.push_back({nullptr, *std::move(made), {}});
  }

  // Without a list of tools a child has what the root has.
  void add_offers(profile_draft& child, agent_definition& d) {
    std::vector<tool_ref> none;
    add_own_servers(child, d.mcp_servers, d.tools ? *d.tools : none);
    const auto shared =
        d.tools ? internal::choose_offers(*d.tools, environment_.sources, false) : root_offers_;
    child.profile.offers.insert(child.profile.offers.end(), shared.begin(), shared.end());
  }

  // The system text. What only a call can fill in is left to it (agent_profile::instruction).
  std::string instruct(profile_draft& child, const agent_definition& d) const {
    if (d.instruction.empty())
      return prompt_text::instruction_from_goal(d.name, d.goal);
    if (d.file.empty())
      return d.instruction; // text in code stands for itself
    std::map<std::string, std::string, std::less<>> values = {
        {"today", environment_.today}, {"model", child.profile.model}, {"agent_name", d.name}};
    auto text = text_template::compile(d.instruction);
    const bool uses_input = std::any_of(text.placeholders().begin(), text.placeholders().end(),
                                        [&](const placeholder& p) { return !values.contains(p.name); });
    if (!uses_input)
      return text.render(values).value_or(d.instruction);
    child.profile.instruction = std::make_shared<const text_template>(std::move(text));
    child.profile.instruction_values = std::move(values);
    return d.instruction;
  }

  std::vector<tool_ptr> child_tools(const agent_definition& d) {
    if (d.tools) {
      auto available = environment_.tools;
      for (const auto& [name, tool] : root_tools_)
        available.insert_or_assign(name, tool);
      return resolve(*d.tools, available, "subagent '" + d.name + "': ");
    }
    std::vector<tool_ptr> all;
    for (const auto& [name, tool] : root_tools_)
      all.push_back(tool);
    return all;
  }

  static void add_schemas(profile_draft& child, const agent_definition& d) {
    auto& p = child.profile;
    if (!d.input_schema.is_null()) {
      p.input = child.compile(d.input_schema, "the input");
      auto properties =
          d.input_schema.is_object() ? d.input_schema.value("properties", json::object()) : json::object();
      p.input_key = properties.is_object() && properties.size() == 1 ? properties.begin().key() : "prompt";
    }
    if (!d.output_schema.is_null()) {
      p.output = child.compile(d.output_schema, "the answer");
      p.output_schema = std::make_shared<const json>(d.output_schema);
    }
    if (d.mode != agent_mode::task)
      return;
    auto schema = d.output_schema.is_null()
                      ? object_schema({{"result", text_property("The result of the task.")}}, {"result"})
                      : d.output_schema;
    child.add(tool_route::finish_task, "finish_task",
              "Ends the task with its result. Call it alone, when all is done.", std::move(schema));
  }

  std::string system_text() const {
    if (!spec_.instruction.empty())
      return spec_.instruction;
    return "You are " + spec_.name +
           ", an agent. Use your tools where they help, and answer when you are done.";
  }

  const root_spec& spec_;
  const build_environment& environment_;
  profile_draft draft_;
  delegation delegates_;
  std::map<std::string, tool_ptr> root_tools_;
  std::vector<tool_offer> root_offers_;
  skill_map root_skills_;
  std::vector<std::string> warnings_;
  std::vector<std::string> skipped_;
};

} // namespace

result<built_root> build_root(const root_spec& spec, const build_environment& environment) {
  return root_builder{spec, environment}.build();
}

agent_profile_ptr build_spawned(const agent_profile& parent, const std::string& name,
                                const std::string& model, const std::vector<bound_tool>& tools,
                                const skill_map& skills) {
  profile_draft child{name};
  auto& p = child.profile;
  p.name = name;
  p.kind = "spawned";
  p.model = model;
  p.rules = parent.rules;
  p.before_and_after = parent.before_and_after;
  p.max_result_bytes = parent.max_result_bytes;
  p.compaction = parent.compaction;
  p.limits.max_output_tokens = parent.limits.max_output_tokens;
  for (const auto& tool : tools)
    child.add(tool);
  child.add_skills(skills);
  return child.finish(prompt_text::spawned_instruction(name));
}

bool valid_identifier(std::string_view name) noexcept {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && name.size() <= 64 && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

} // namespace troupe
