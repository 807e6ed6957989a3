// From options and a configuration file to a runtime and its root agent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/troupe.hpp>

#include <string>
#include <vector>

namespace troupe::cli {

struct setup_options {
  std::string config_file;   // empty: troupe.yaml in the working folder, where there is one
  bool config_given = false; // an empty config_file is a mistake then
  std::string workspace;     // empty: what the configuration says, else the working folder
  std::string model;         // empty: what the configuration says
  std::string agent; // name of the root agent, or of an agent file that is to be the root; empty: the root
  std::string store; // "memory", "sqlite" or "sqlite:FILE"; empty: what the configuration says
  bool keeps_sessions = false; // the store is opened; otherwise sessions are in memory
  bool strict = true;
  std::string record;      // folder for a recording of the exchanges with models; empty: none
  std::string events_file; // gets each stored event as a line of JSON; empty: what the configuration says
  std::string replay;      // folder of a recording that answers instead of the models' services
};

struct setup {
  runtime_options runtime;
  deep_agent root;
  on_busy busy = on_busy::wait;
  on_background_result background = on_background_result::wake;
  std::chrono::milliseconds question_timeout{};
  bool durable = false;                 // sessions outlive the process
  std::string listen;                   // of the server; empty: what it does by default
  std::string token_file;               // likewise; empty: none
  std::vector<std::string> allow_hosts; // likewise
  bool a2a = false;                     // likewise
  std::vector<std::string> a2a_agents;  // likewise
  std::string public_url;               // likewise
  std::vector<std::string> warnings;
  std::string config_file; // empty: none was read
};

// Without a configuration the root has the file tools, a todo list, a reviewer and may make up subagents, and the
// embedded scenario model plays it. Fails with bad_config; the message has a line for each mistake.
[[nodiscard]] result<setup> make_setup(const setup_options& options);

// The root, and each prebuilt agent and agent of a file as a root of its own, without subagents. Names differ.
[[nodiscard]] std::vector<deep_agent> served_agents(const setup& prepared);

} // namespace troupe::cli
