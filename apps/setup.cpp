// SPDX-License-Identifier: Apache-2.0
#include "setup.hpp"

#include <troupe/runtime/agent_file.hpp>
#include <troupe/runtime/config.hpp>
#include <troupe/runtime/file_text.hpp>
#include <troupe/runtime/stores/open_store.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace troupe::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_file = "troupe.yaml";

std::vector<tool_ref> default_tools() {
  return {"read_file", "write_file", "edit_file", "list_directory", "glob", "grep_search", "todo"};
}

deep_agent default_root() {
  deep_agent root;
  root.name = "troupe";
  root.model = "scenario";
  root.instruction =
      "You work in a workspace of files. Break large jobs into focused parts, give each to a subagent, and "
      "put the results together.";
  root.tools = default_tools();
  root.subagents = {{.name = "reviewer", .goal = "Review plans and drafts for mistakes and gaps."}};
  root.spawn = spawn_config{};
  return root;
}

deep_agent root_of(const config& c) {
  deep_agent root;
  root.name = c.name;
  root.description = c.description;
  root.instruction = c.instruction;
  root.model = !c.model.empty() ? c.model : !c.models.empty() ? c.models.front().id : "scenario";
  root.thinking = c.thinking;
  root.temperature = c.temperature;
  root.tools = c.tools ? *c.tools : default_tools();
  root.output_schema = c.output_schema;
  root.skills = c.skills;
  root.use_sandbox = c.use_sandbox;
  root.subagents = c.subagents;
  root.spawn = c.spawn;
  root.limits = c.limits;
  root.run = c.run;
  root.compaction = c.compaction;
  root.policy = c.policy;
  if (c.policy_default != policy_decision::allow)
    root.policy.push_back({.tool = "*", .agent = "*", .decision = c.policy_default});
  return root;
}

// The name of the store; a file in a configuration is relative to its folder.
std::string stored_name(const std::string& configured, const std::string& asked, const fs::path& folder) {
  if (!asked.empty())
    return asked;
  constexpr std::string_view scheme = "sqlite:";
  if (configured.starts_with(scheme))
    if (const fs::path file{configured.substr(scheme.size())}; !file.empty() && file.is_relative())
      return std::string{scheme} + (folder / file).string();
  return configured;
}

// "~/" is the home folder; what is relative is relative to the configuration's folder.
fs::path folder_of(const std::string& written, const fs::path& folder) {
  const char* home = std::getenv("HOME");
  if (written.starts_with("~/") && home != nullptr)
    return fs::path{home} / written.substr(2);
  return folder / written;
}

telemetry_options telemetry_of(const telemetry_config& c, const fs::path& folder) {
  telemetry_options t;
  t.otlp_endpoint = c.otlp_endpoint;
  t.service_name = c.service_name;
  t.capture_content = c.capture_content;
  if (!c.events_file.empty())
    t.events_file = folder / c.events_file;
  return t;
}

// Opens the store. The default one that cannot be opened is no reason not to run: then sessions end with the program.
status keep_sessions(setup& s, const setup_options& options, const std::string& name, durability how) {
  if (!options.keeps_sessions)
    return ok();
  auto store = open_store(name.empty() ? "sqlite" : name, how);
  if (!store && !name.empty())
    return store.failure();
  if (!store) {
    s.warnings.push_back("Sessions are kept in memory only: " + store.failure().message);
    store = open_store("memory", how);
  }
  s.runtime.store = std::move(*store);
  s.durable = !s.runtime.store->immediate();
  return ok();
}

result<setup> from_file(const std::string& path, const setup_options& options) {
  config_options how;
  auto text = read_file_text(path, how.max_bytes);
  if (!text)
    return error{errc::bad_config, text.failure().message};
  how.strict = options.strict;
  auto loaded = parse_config(*text, path, how);
  if (has_errors(loaded.issues))
    return error{errc::bad_config, "The configuration cannot be used:\n" + join_issues(loaded.issues)};
  setup s;
  s.config_file = path;
  for (const auto& issue : loaded.issues)
    s.warnings.push_back(to_string(issue));
  s.busy = loaded.value.session.refuse_when_busy ? on_busy::reject : on_busy::wait;
  s.background = loaded.value.session.background;
  s.question_timeout = loaded.value.session.question_timeout;
  const auto folder = fs::path{path}.parent_path();
  s.root = root_of(loaded.value);
  s.runtime.models = loaded.value.models;
  for (auto& model : s.runtime.models)
    for (auto* file : {&model.scenario, &model.ca_file})
      if (!file->empty() && fs::path{*file}.is_relative())
        *file = (folder / *file).string();
  s.runtime.workspace = folder / loaded.value.sandbox.workspace;
  if (s.runtime.workspace.empty())
    s.runtime.workspace = ".";
  s.runtime.sandbox.backend = loaded.value.sandbox.backend;
  s.runtime.sandbox.network = loaded.value.sandbox.network;
  s.runtime.sandbox.limits = loaded.value.sandbox.limits;
  s.runtime.fetch_private_hosts = loaded.value.fetch.private_hosts;
  for (const auto& skills : loaded.value.skill_folders)
    s.runtime.skill_folders.push_back(folder_of(skills, folder));
  auto agents = folder / loaded.value.agents_folder;
  if (fs::is_directory(agents))
    s.runtime.agents_folder = agents;
  s.runtime.mcp_servers = loaded.value.mcp_servers;
  for (auto& server : s.runtime.mcp_servers)
    if (!server.cwd.empty() && fs::path{server.cwd}.is_relative())
      server.cwd = (folder / server.cwd).string();
  s.runtime.telemetry = telemetry_of(loaded.value.telemetry, folder);
  s.listen = loaded.value.server.listen;
  s.token_file = loaded.value.server.token_file;
  if (!s.token_file.empty() && fs::path{s.token_file}.is_relative())
    s.token_file = (folder / s.token_file).string();
  s.allow_hosts = loaded.value.server.allow_hosts;
  s.a2a = loaded.value.server.a2a;
  s.a2a_agents = loaded.value.server.a2a_agents;
  s.public_url = loaded.value.server.public_url;
  s.runtime.idle_after = loaded.value.session.idle_after;
  s.runtime.max_resident = loaded.value.session.max_resident;
  if (auto kept = keep_sessions(s, options, stored_name(loaded.value.session.store, options.store, folder),
                                loaded.value.session.how);
      !kept)
    return error{errc::bad_config, path + ": session.store: " + kept.failure().message};
  return s;
}

deep_agent root_from(const agent_definition& d, const setup& s) {
  deep_agent root;
  root.name = d.name;
  std::replace(root.name.begin(), root.name.end(), '-', '_');
  root.description = d.description;
  root.instruction = d.instruction;
  root.model = d.model.empty() ? s.root.model : d.model;
  root.tools = d.tools ? *d.tools : s.root.tools;
  root.thinking = d.thinking;
  root.temperature = d.temperature;
  root.output_schema = d.output_schema;
  root.skills = d.skills;
  root.use_sandbox = d.use_sandbox;
  root.limits = d.limits;
  root.policy = s.root.policy;
  root.run = s.root.run;
  root.mcp_servers = d.mcp_servers;
  return root;
}

// An agent as the root: with its own instruction, tools, model and limits, and no subagents.
result<deep_agent> root_from_agent_file(const setup& s, const std::string& name) {
  auto loaded = load_agent_folder(s.runtime.agents_folder, definition_origin::project);
  std::vector<std::string> names{s.root.name};
  for (auto& d : loaded.definitions) {
    names.push_back(d.name);
    if (d.name != name)
      continue;
    if (d.kind != agent_kind::local)
      return error{errc::unknown_agent, "Agent '" + name + "' is " + std::string{to_string(d.kind)} +
                                            " and cannot be the root agent."};
    return root_from(d, s);
  }
  return error{errc::unknown_agent, "There is no agent '" + name + "'." + did_you_mean(name, names) +
                                        " Agents: " + list_names(names) + "."};
}

} // namespace

std::vector<deep_agent> served_agents(const setup& prepared) {
  std::vector<deep_agent> served{prepared.root};
  std::vector<std::string> names{prepared.root.name};
  const auto add = [&](const agent_definition& d) {
    auto root = root_from(d, prepared);
    if (root.description.empty())
      root.description = d.goal;
    if (root.instruction.empty())
      root.instruction = "You are " + d.name + ". Your goal: " + d.goal;
    if (std::find(names.begin(), names.end(), root.name) != names.end())
      return;
    names.push_back(root.name);
    served.push_back(std::move(root));
  };
  for (const auto& child : prepared.root.subagents)
    add(to_definition(child));
  if (!prepared.runtime.agents_folder.empty())
    for (const auto& d :
         load_agent_folder(prepared.runtime.agents_folder, definition_origin::project).definitions)
      if (d.kind == agent_kind::local)
        add(d);
  return served;
}

result<setup> make_setup(const setup_options& options) {
  setup s;
  auto file = options.config_file;
  if (file.empty() && options.config_given)
    return error{errc::bad_config, "The name of the configuration is empty."};
  if (file.empty() && fs::exists(default_file))
    file = default_file;
  if (file.empty()) {
    s.root = default_root();
    s.runtime.workspace = ".";
    s.question_timeout = session_config{}.question_timeout;
    if (auto kept = keep_sessions(s, options, options.store, durability::strict); !kept)
      return error{errc::bad_config, kept.failure().message};
  } else {
    auto loaded = from_file(file, options);
    if (!loaded)
      return loaded;
    s = std::move(*loaded);
  }
  if (!options.workspace.empty())
    s.runtime.workspace = options.workspace;
  std::error_code code;
  if (!fs::is_directory(s.runtime.workspace, code))
    return error{errc::bad_config, "The workspace " + s.runtime.workspace.string() + " is not a folder."};
  if (!options.agent.empty() && options.agent != s.root.name) {
    auto root = root_from_agent_file(s, options.agent);
    if (!root)
      return std::move(root).failure();
    s.root = std::move(*root);
    s.runtime.agents_folder.clear();
  }
  if (!options.model.empty())
    s.root.model = options.model;
  s.runtime.sandbox.workspace = s.runtime.workspace;
  s.runtime.record = options.record;
  s.runtime.replay = options.replay;
  if (!options.events_file.empty())
    s.runtime.telemetry.events_file = options.events_file;
  return s;
}

} // namespace troupe::cli
