// From definitions to profiles: every name is looked up, every schema compiled, every prompt built, and what
// does not fit is an error here rather than in the middle of a run.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/agent_profile.hpp>
#include <troupe/runtime/definition.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

// A root agent as somebody declares it.
struct root_spec {
  std::string name = "troupe";
  std::string model{};
  std::string instruction{};
  std::string description{};
  std::vector<tool_ref> tools{};
  std::vector<subagent_spec> subagents{};
  std::optional<spawn_config> spawn{};
  std::vector<std::string> skills{};
  bool use_sandbox = false;
  thinking_level thinking = thinking_level::automatic;
  std::optional<double> temperature{};
  nlohmann::json output_schema{};
  agent_limits limits{};
  std::shared_ptr<const policy> rules{};
  std::shared_ptr<const hooks> before_and_after{};
  compaction_rule compaction{};               // of the root and its children
  std::vector<mcp_server_spec> mcp_servers{}; // of its own: each instance starts them
};

// A remote agent that can be called.
struct remote_model {
  std::string model{};       // the id of the model behind which it works
  std::string description{}; // of its card; may be empty
};

// What the names in a root_spec may mean.
struct build_environment {
  std::string today{};                         // for ${today} in instructions: "2026-11-30"
  std::map<std::string, tool_ptr> tools{};     // built in and of the program
  std::map<std::string, std::string> models{}; // catalogue id → description
  skill_map skills{};                          // that agents may have
  bool as_root = false;                        // the program runs as root, which browsers want to know
  tool_ptr sandbox{};                          // the tool `environment`; null: no sandbox is configured
  std::vector<std::shared_ptr<const agent_definition>>
      agents{};                                        // of the registry, reached through invoke_agent
  std::vector<std::shared_ptr<tool_source>> sources{}; // that all agents share: the configured MCP servers
  // Checks a server that an agent declares for itself, and gives what makes one for each instance. Empty: there are none.
  std::function<result<std::function<std::shared_ptr<tool_source>()>>(const mcp_server_spec&)> make_source{};
  std::map<std::string, remote_model> remotes{};       // how the remote ones among them are reached, by name
  std::map<std::string, std::string> broken_remotes{}; // those that cannot be used, and why
};

struct built_root {
  agent_profile_ptr profile;
  std::vector<std::string> warnings;
  std::vector<std::string> skipped; // agents of the registry that cannot be used, and why
};

// Fails with unknown_tool, unknown_model, name_clash, bad_definition or bad_schema; the message names the
// agent.
[[nodiscard]] result<built_root> build_root(const root_spec& spec, const build_environment& environment);

// The profile of a child that is made up for one call; all names have been checked.
[[nodiscard]] agent_profile_ptr build_spawned(const agent_profile& parent, const std::string& name,
                                              const std::string& model, const std::vector<bound_tool>& tools,
                                              const skill_map& skills);

// Letters, digits and '_', not beginning with a digit, 1 to 64 characters.
[[nodiscard]] bool valid_identifier(std::string_view name) noexcept;

} // namespace troupe
