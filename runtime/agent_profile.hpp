// An agent that is ready to run: its definition with every name looked up, every schema compiled and its prompt built.
//
// Immutable and shared: ten thousand children of one definition have one profile.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/compaction.hpp>
#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/hooks.hpp>
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/policy.hpp>
#include <troupe/runtime/ports/tool_source.hpp>
#include <troupe/runtime/skill.hpp>
#include <troupe/runtime/text_template.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

class profile_extensions;
struct agent_profile;
using agent_profile_ptr = std::shared_ptr<const agent_profile>;

// Who carries a call out.
enum class tool_route : std::uint8_t {
  function,          // a C++ function
  prebuilt,          // a prebuilt subagent; `child` is its profile
  dispatch,          // invoke_agent: an agent of the registry
  spawn,             // spawn_subagent: an agent made up for the call
  finish_task,       // ends a task with its result
  request_input,     // asks the user
  list_background,   // what works in the background
  cancel_background, // ends one of that
};

struct bound_tool {
  tool_route route = tool_route::function;
  tool_ptr function;                            // of route function
  std::shared_ptr<const json_schema> arguments; // never null
  agent_profile_ptr child;                      // of route prebuilt
};

using bound_tools = std::unordered_map<std::string, bound_tool>;

// What a root agent may delegate to, besides its prebuilt subagents.
struct delegation {
  // invoke_agent: the registry's agents, ready to run, by name.
  std::map<std::string, agent_profile_ptr> agents;
  // spawn_subagent.
  bool may_spawn = false;
  std::map<std::string, bound_tool> pool; // what a spawned child can get, by name
  std::vector<std::string> allowed_tools; // names in the pool that it may ask for
  std::vector<std::string> allowed_names; // names and wildcards that allow tools which come later; empty: all
  skill_map skills;                       // that it may ask for
  std::map<std::string, std::string> models; // catalogue id → description
  std::vector<std::string> taken_names; // root, prebuilt and registry agents: a spawned child must differ
};

struct agent_profile {
  std::string name;
  std::string kind;       // "root", "prebuilt", "spawned", "registry"
  bool is_remote = false; // its model is an agent of another program
  std::string description;
  std::string model; // catalogue id
  agent_mode mode = agent_mode::single_turn;
  agent_limits limits;
  thinking_level thinking = thinking_level::automatic;
  std::optional<double> temperature;
  std::size_t max_result_bytes = 256 * 1024; // a longer tool result is cut, with a note
  std::size_t max_data_bytes =
      8 * 1024 * 1024; // of the data of one result, as base64; more is left out, with a note
  std::size_t max_calls_per_turn = 100'000; // of one model answer; the rest is refused

  std::shared_ptr<const prompt_head> head;       // never null
  std::shared_ptr<const prompt_head> grace_head; // never null: only finish_task, or no tools
  bound_tools tools;
  std::vector<tool_offer> offers; // tools that are known only once the agent runs; `tools` comes first
  std::shared_ptr<profile_extensions>
      extended; // this very profile with tools of its offers; null: made for each
  bool has_exclusive_tools = false;
  std::vector<std::string>
      newest_only; // tools of whose results only the newest is shown to the model in full
  std::shared_ptr<const json_schema>
      input;                         // what `request` is checked against; null: an object with `request`
  std::string input_key = "request"; // the one property of the input schema, else "prompt"
  std::shared_ptr<const text_template> instruction; // null unless the system text uses what the caller gives
  std::map<std::string, std::string, std::less<>> instruction_values; // the other names that it may use
  std::string appendix;                      // follows the instruction in the system text
  std::shared_ptr<const json_schema> output; // null: the answer is text
  std::shared_ptr<const nlohmann::json> output_schema;
  std::shared_ptr<const policy> rules;           // null: all is allowed
  std::shared_ptr<const hooks> before_and_after; // null: no hooks
  std::shared_ptr<const delegation> delegates;   // null: delegates to nobody but prebuilt subagents
  compaction_rule compaction;
};

} // namespace troupe
