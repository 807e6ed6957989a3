// Programs for Node.js that use the services' own clients.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace troupe::test {

// Node and the packages of package.json are there; if not, a message of the test says what is missing.
inline bool has_node(const std::filesystem::path& folder) {
  if (run_program(folder, {"/usr/bin/env", "node", "--version"}).code != 0) {
    MESSAGE("skipped: there is no node");
    return false;
  }
  if (!std::filesystem::is_directory(TROUPE_NODE_MODULES)) {
    MESSAGE("skipped: the packages of tests/interop are not installed; ./dev test does that");
    return false;
  }
  return true;
}

// Runs a script of this folder.
inline program_result run_script(const std::filesystem::path& folder, const std::string& script,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"/usr/bin/env", "NODE_PATH=" TROUPE_NODE_MODULES, "node",
                               std::string(TROUPE_INTEROP_FOLDER "/") + script};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_program(folder, std::move(all));
}

} // namespace troupe::test
