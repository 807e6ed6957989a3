// The agents that can be invoked by name, from four sources.
//
// Sources in order of precedence: built in, project, user, code. The first definition of a name wins; a later
// one is dropped with a warning. Definitions are immutable and shared, so an agent that runs keeps the one it
// began with.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/agent_file.hpp>
#include <troupe/runtime/definition.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

using definition_ptr = std::shared_ptr<const agent_definition>;

struct registry_options {
  std::vector<agent_definition> built_in;
  std::filesystem::path project_folder; // empty: none
  std::filesystem::path user_folder;    // empty: none
  std::vector<agent_definition> code;
  std::vector<std::string> reserved; // names of the root agent, of its subagents and of tools: refused here
  agent_file_options files;
};

// What reload() did. Names are sorted.
struct reload_report {
  std::vector<std::string> added, changed, removed;
  std::vector<load_issue> issues;
  std::size_t local = 0, remote = 0, browser = 0; // how many there are now
};

// Thread-safe. Lookups never wait for a reload.
class registry {
 public:
  // Empty until the first reload().
  explicit registry(registry_options options);

  // Reads all sources again and then replaces the agents at once. Blocks on files; two at a time take turns.
  reload_report reload();

  // Adds to what code declares; takes effect at once. Fails with bad_definition or name_clash.
  status add(agent_definition definition);

  // Null when there is no such agent. Exact and case-sensitive.
  [[nodiscard]] definition_ptr find(std::string_view name) const;

  // Sorted by name.
  [[nodiscard]] std::vector<definition_ptr> all() const;

  // "There is no agent \"critc\". Did you mean \"critic\"? There are: …"
  [[nodiscard]] error unknown_agent(std::string_view name) const;

  // What the model is told: one <agent> element for each, names and descriptions escaped; empty when there
  // are none.
  [[nodiscard]] std::string catalogue() const;

 private:
  using agent_map = std::map<std::string, definition_ptr, std::less<>>;

  [[nodiscard]] std::shared_ptr<const agent_map> snapshot() const;
  [[nodiscard]] status check(const agent_definition& definition) const;
  void take(agent_definition definition, agent_map& agents, std::vector<load_issue>& issues) const;

  registry_options options_;
  std::mutex reload_mutex_; // held while sources are read; also guards options_.code
  mutable std::mutex mutex_;
  std::shared_ptr<const agent_map> agents_;
};

// `text` with &, <, >, " and ' as entities and control characters (but newline and tab) left out.
[[nodiscard]] std::string xml_escape(std::string_view text);

} // namespace troupe
