// Agents in files: Markdown with YAML between two `---` lines, whose body is the instruction.
//
// The fields of Gemini CLI's agent files are understood (kind, name, description, display_name, tools,
// mcp_servers, model, temperature, max_turns, timeout_mins; agent_card_url, agent_card_json and auth of
// remote agents, which may stand several in a file, as a list), and ours beside them (goal, mode, skills,
// thinking, use_sandbox, input_schema, output_schema, max_output_tokens). Without an input_schema the input
// is the one text `query`.
//
// The first line may follow a byte order mark; lines may end with CRLF; the `---` lines may have trailing
// blanks. Functions here are pure but for load_agent_folder, which reads files and blocks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/load_issue.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct agent_file_options {
  bool strict = false; // unknown keys are errors and not warnings
  std::size_t max_bytes = std::size_t{1} << 20;
  std::size_t max_depth = 32;     // of the YAML
  std::size_t max_files = 10'000; // of a folder
  // Tools that delegate or handle background work: only the root has them, so naming one is an error.
  std::vector<std::string> delegating_tools = {"invoke_agent", "spawn_subagent", "list_background",
                                               "cancel_background"};
};

// What a file or folder holds. A definition stands here only if it has no error.
struct loaded_agents {
  std::vector<agent_definition> definitions;
  std::vector<load_issue> issues;
};

// Reads the text of one file; `file` names it in messages.
[[nodiscard]] loaded_agents parse_agent_file(std::string_view text, const std::string& file,
                                             definition_origin origin,
                                             const agent_file_options& options = {});

// Reads the `*.md` files of a folder in the order of their names: regular files only (no links), not
// recursive, none whose name begins with `_`. A folder that is missing is empty. A bad file never stops the
// others.
[[nodiscard]] loaded_agents load_agent_folder(const std::filesystem::path& folder, definition_origin origin,
                                              const agent_file_options& options = {});

// The names that an instruction may use beside those of its input: today, model, agent_name.
[[nodiscard]] std::vector<std::string> template_names();

// True for the name of an agent from a file: lower-case letters, digits, `_` and `-`, at most 64, and not
// "user".
[[nodiscard]] bool is_agent_slug(std::string_view name) noexcept;

// Maps the prompt of a caller to an agent's input: {K: prompt} for a schema with exactly one property K, else
// {"prompt": prompt}.
[[nodiscard]] nlohmann::json map_prompt(const nlohmann::json& input_schema, std::string_view prompt);

} // namespace troupe
