// troupe.yaml: the root agent, its models, subagents and limits, as plain values.
//
// One table of keys in config_keys.cpp drives reading, the messages about unknown keys and the reference in
// docs/config.md. No environment variables are read and no file is opened here; keys of services never stand
// in the file (api_key_env and api_key_file say where they are).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/compaction.hpp>
#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/load_issue.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/policy.hpp>
#include <troupe/runtime/sandbox_options.hpp>
#include <troupe/runtime/stores/open_store.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct sandbox_config {
  sandbox_backend backend = sandbox_backend::none;
  std::string workspace = "."; // folder of the file tools and of the sandbox; relative to the config file
  bool network = false;
  sandbox_limits limits{};
};

// Of the tool fetch_url.
struct fetch_config {
  std::vector<std::string> private_hosts; // that may have addresses which are not public
};

struct session_config {
  std::string store; // "memory", "sqlite" or "sqlite:" and a file; empty: sqlite where it works
  durability how = durability::strict; // what an acknowledged event survives
  std::uint32_t max_resident = 10'000; // sessions kept in memory
  std::chrono::milliseconds idle_after = std::chrono::minutes{10};
  bool refuse_when_busy = false; // a second run of a session is refused, not queued
  on_background_result background = on_background_result::wake;
  std::chrono::milliseconds question_timeout = std::chrono::hours{24 * 7};
};

struct telemetry_config {
  std::string otlp_endpoint; // base URL of a collector; empty: the environment's
  std::string service_name;
  bool capture_content = false;
  std::string events_file; // relative to the config file
};

// Of `troupe serve`.
struct server_config {
  std::string listen;                   // empty: 127.0.0.1:8787
  std::string token_file;               // relative to the config file; empty: none
  std::vector<std::string> allow_hosts; // names that the server is called by, besides its address
  bool a2a = false;                     // agents of other programs may call the agent
  std::vector<std::string> a2a_agents;  // which agents; empty: all
  std::string public_url;               // that others reach the server by
};

struct config {
  std::string name = "root";
  std::string description;
  std::string instruction;
  // Id of one of `models`; the only or first one when empty, the scenario model without any.
  std::string model;
  thinking_level thinking = thinking_level::automatic;
  std::optional<double> temperature;
  std::optional<std::vector<tool_ref>> tools; // absent: the file tools and todo
  std::vector<std::string> skills;
  // Where skills are looked for; relative to the config file, "~/" is the home folder.
  std::vector<std::string> skill_folders = {"skills", ".agents/skills", "~/.agents/skills"};
  bool use_sandbox = false;
  nlohmann::json output_schema;

  std::vector<model_spec> models; // in the order of the file
  std::vector<subagent_spec> subagents;
  std::optional<spawn_config> spawn; // absent: the root cannot make up subagents
  std::string agents_folder =
      "agents"; // files of agents that invoke_agent reaches; relative to the config file
  sandbox_config sandbox;
  fetch_config fetch;
  std::vector<mcp_server_spec> mcp_servers; // in the order of the file
  std::vector<policy_rule> policy;
  policy_decision policy_default = policy_decision::allow;
  agent_limits limits; // of the root agent
  run_limits run;      // of a run over all its agents
  compaction_rule compaction;
  session_config session;
  telemetry_config telemetry;
  server_config server;
};

// The config holds what was sound; use it only when there is no error among the issues.
struct loaded_config {
  config value;
  std::vector<load_issue> issues;
};

struct config_options {
  bool strict = true; // unknown keys are errors and not warnings
  std::size_t max_bytes = std::size_t{4} << 20;
};

// Reads the text of a file; `file` names it in messages. An empty text gives the defaults.
[[nodiscard]] loaded_config parse_config(std::string_view yaml, const std::string& file,
                                         const config_options& options = {});

// The reference of all keys, in Markdown: the text of docs/config.md.
[[nodiscard]] std::string config_reference_markdown();

} // namespace troupe
