// The keys of an agent file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/internal/yaml_reader.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe::internal {

// An agent while its keys are read.
struct agent_draft {
  agent_definition definition;
  std::optional<agent_kind> kind; // as written
  bool has_servers = false;       // mcp_servers was there
  bool has_browser = false;       // browser was there
  std::string local_key;          // a key that only local agents have; empty when none was there
};

// Reads and checks everything but the body.
void read_agent(yaml_reader& reader, const yaml_value& in, agent_draft& draft,
                const std::vector<std::string>& delegating_tools);

} // namespace troupe::internal
