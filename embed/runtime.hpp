// The runtime: threads, models, sessions and the agents that are made in it.
//
//   troupe::runtime rt;
//   auto analyst = rt.create_deep_agent({.name = "analyst", .model = "scenario", .instruction = "…"});
//   auto run = analyst.run("Why did sales drop?");
//   for (const troupe::event& e : run) std::cout << troupe::to_line(e) << '\n';
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/run.hpp>
#include <troupe/embed/session.hpp>
#include <troupe/runtime/compaction.hpp>
#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/hooks.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/policy.hpp>
#include <troupe/runtime/ports/engine.hpp>
#include <troupe/runtime/ports/session_store.hpp>
#include <troupe/runtime/ports/timer.hpp>
#include <troupe/runtime/ports/tool_source.hpp>
#include <troupe/runtime/sandbox_options.hpp>
#include <troupe/runtime/stores/open_store.hpp>
#include <troupe/runtime/telemetry/telemetry_options.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace troupe {

// Thrown where a declaration cannot be used; what() says what, where, and what would be right.
class config_error : public std::runtime_error {
 public:
  explicit config_error(const error& e) : std::runtime_error(to_string(e)), error_(e) {}
  [[nodiscard]] const error& why() const noexcept { return error_; }

 private:
  error error_;
};

struct runtime_options {
  std::vector<model_spec> models{};  // besides "scenario", the embedded model, which is always there
  std::vector<tool_ptr> tools{};     // known by name to all agents
  std::filesystem::path workspace{}; // root of the built-in file tools; empty: no file tools
  std::vector<std::filesystem::path> skill_folders{}; // of skills that agents may have; read once
  sandbox_options sandbox{}; // for commands of agents (the tool `environment`); none by default
  std::vector<std::string>
      fetch_private_hosts{};             // that fetch_url may reach though their addresses are not public
  std::filesystem::path agents_folder{}; // *.md files of agents for invoke_agent; empty: none
  std::filesystem::path user_agents_folder{}; // likewise, of the user
  // How long create_deep_agent waits for cards of remote agents, for their descriptions; 0: not at all.
  std::chrono::milliseconds remote_card_wait{3'000};
  std::shared_ptr<session_store> store{}; // null: memory; see open_store
  std::size_t threads = 0;                // for agents; 0: one for each usable processor
  std::size_t io_threads = 1;             // for the network
  bool io_threads_run_agents = true;      // and for the steps of agents that follow on what it brings
  std::size_t tool_threads = 0; // for tools that may block; 0: two a usable processor, at least four
  std::chrono::milliseconds shutdown_timeout{5'000};
  shutdown_mode at_shutdown = shutdown_mode::cancel; // what the destructor does with what runs
  std::chrono::milliseconds idle_after{60'000};      // then a session without work gives its memory back
  std::size_t max_resident = 10'000;                 // sessions in memory; more only while they have work
  log_sink log{};                                    // empty: nothing is logged
  std::filesystem::path record{}; // folder that keeps the exchanges with models, without secrets; empty: none
  std::filesystem::path replay{}; // folder of such a recording, which answers instead of the models' services
  bool proxy_from_environment = true; // https_proxy, http_proxy, all_proxy and no_proxy count
  // Their tools are mcp_<name>_<tool>: the root gets all, unless its list names some; see docs/mcp.md.
  std::vector<mcp_server_spec> mcp_servers{};
  telemetry_options
      telemetry{}; // spans and metrics go nowhere unless an endpoint is set; see docs/telemetry.md
};

// A root agent and all that it may delegate to.
struct deep_agent {
  std::string name = "troupe";
  std::string model = "scenario";
  std::string instruction{};
  std::vector<tool_ref> tools{};
  std::vector<std::string> skills{};          // of the runtime's
  bool use_sandbox = false;                   // it may run commands
  std::vector<model_spec> available_models{}; // added to the runtime's
  std::vector<subagent_spec> subagents{};
  std::optional<spawn_config> spawn{};            // absent: it makes up no agents
  std::vector<remote_agent_spec> remote_agents{}; // of other programs, reached through invoke_agent
  std::string description{};
  thinking_level thinking = thinking_level::automatic;
  std::optional<double> temperature{};
  nlohmann::json output_schema{};
  agent_limits limits{};
  run_limits run{};
  compaction_rule compaction{}; // when a long conversation is summed up; never by default
  std::vector<policy_rule> policy{};
  std::shared_ptr<const hooks> before_and_after{};
  std::vector<mcp_server_spec> mcp_servers{}; // of its own: each of its sessions starts them, and ends them
};

struct run_options {
  std::string session{};           // goes on with this session; empty: a new one
  bool answerable = false;         // somebody answers questions through run::answer
  on_busy busy = on_busy::wait;    // another run of the session is under way
  std::vector<part> attachments{}; // data parts that go with the prompt
  // The run ends with `needs_input` once nothing can go on without an answer; it can be resumed and answered later.
  bool suspend_on_question = false;
  std::chrono::milliseconds question_timeout = std::chrono::hours{24 * 7}; // then it counts as not answered
  on_background_result background = on_background_result::wake;
  std::string user = "local";          // whose `user:` state keys a new session has
  std::string app{};                   // likewise for `app:` keys
  bool take_over = false;              // from another process that has the session open
  std::vector<given_answer> answers{}; // to questions of the run that is resumed
};

namespace tools {

// A page of the web as text; known to each runtime by name.
[[nodiscard]] inline tool_ref fetch_url() {
  return "fetch_url";
}

} // namespace tools

class runtime_core;

// A root agent of a runtime. Copyable; thread-safe; does not keep the runtime alive.
class agent {
 public:
  // Starts a run and returns at once.
  // Throws config_error when the session's name is not usable (letters, digits and "-_.:", at most 128), or when the
  // runtime has ended.
  [[nodiscard]] troupe::run run(std::string prompt, run_options options = {}) const;

  // Goes on with what was under way in options.session when its process ended: the run, its children, background work
  // and open questions. The run fails with not_found when there is no such session, and is completed at once when
  // nothing was under way.
  [[nodiscard]] troupe::run resume(run_options options) const;

  [[nodiscard]] const agent_profile& profile() const noexcept { return *profile_; }
  // For those who start runs through runtime::engine().
  [[nodiscard]] const agent_profile_ptr& shared_profile() const noexcept { return profile_; }
  [[nodiscard]] const run_limits& limits() const noexcept { return limits_; }
  // What could be better in its declaration.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  // Agents from files that cannot be used, and why; it goes on without them.
  [[nodiscard]] const std::vector<std::string>& skipped() const noexcept { return skipped_; }

 private:
  friend class runtime;
  friend class server;
  friend class mcp_server;
  [[nodiscard]] troupe::run start(content_ptr message, run_options options) const;
  std::weak_ptr<runtime_core> core_;
  agent_profile_ptr profile_;
  run_limits limits_;
  std::vector<std::string> warnings_;
  std::vector<std::string> skipped_;
};

// Owns threads, stores and connections. Thread-safe.
//
// The destructor refuses new work, cancels what runs and waits at most shutdown_timeout; what still runs then is logged.
// A tool that never returns keeps its own thread and what it holds, and nothing else.
class runtime {
 public:
  // Throws config_error when a model or folder cannot be used.
  explicit runtime(runtime_options options = {});
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // Throws config_error when names, schemas or models do not fit together.
  [[nodiscard]] agent create_deep_agent(deep_agent spec);

  // A handle of a session, whether or not it is there yet.
  [[nodiscard]] troupe::session session(const std::string& id) const;

  // agent::resume of the agent that has the name of the session's root agent. Throws config_error when the session is
  // not in the store or no such agent was created.
  [[nodiscard]] run resume(const std::string& session, run_options options = {});

  // A model in code, such as a function_model.
  void add_model(const std::string& id, std::shared_ptr<model_provider> provider,
                 std::string description = {});

  // What is known by name: catalogue id → description, and tools.
  [[nodiscard]] std::map<std::string, std::string> models() const;
  [[nodiscard]] std::vector<tool_ptr> tools() const;
  // The MCP servers of the options. One that is held beyond the runtime is closed.
  [[nodiscard]] std::vector<std::shared_ptr<tool_source>> tool_sources() const;

  // The port for servers and for programs of several sessions.
  [[nodiscard]] troupe::engine& engine() noexcept;

  // The timer of the runtime's own threads, for a function_model and the like; callbacks are to be short. Of a model that
  // answers through it the agent goes on without that another thread is woken.
  [[nodiscard]] timer& clock() noexcept;

  // Ends now what the destructor would end; gives what still runs after `limit`.
  std::vector<std::string> shutdown(std::chrono::milliseconds limit);

 private:
  friend class server;
  friend class mcp_server;
  std::shared_ptr<runtime_core> core_;
};

} // namespace troupe
