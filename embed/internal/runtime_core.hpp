// What a runtime owns, in the order in which it ends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/engine.hpp>
#include <troupe/embed/internal/dispatcher.hpp>
#include <troupe/embed/internal/mcp_servers.hpp>
#include <troupe/embed/internal/model_client.hpp>
#include <troupe/embed/internal/remote_agents.hpp>
#include <troupe/embed/internal/runtime_telemetry.hpp>
#include <troupe/embed/runtime.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/sandbox/sandbox.hpp>
#include <troupe/runtime/profile_builder.hpp>
#include <troupe/runtime/registry.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe {

class runtime_core {
 public:
  explicit runtime_core(runtime_options options);
  ~runtime_core();
  runtime_core(const runtime_core&) = delete;
  runtime_core& operator=(const runtime_core&) = delete;

  void add_model(const model_spec& spec);
  void add_model(const std::string& id, std::shared_ptr<model_provider> provider, std::string description,
                 const model_spec& limits);
  // `remotes` are those of code; remote agents are connected unless nothing is reserved: then only tools and models are
  // wanted.
  [[nodiscard]] build_environment environment(const std::vector<std::string>& reserved,
                                              const std::vector<remote_agent_spec>& remotes = {});
  [[nodiscard]] std::map<std::string, std::string> models();
  [[nodiscard]] std::vector<std::shared_ptr<tool_source>> sources() const { return sources_; }

  // Keeps what can be resumed by name; a later agent of the same name takes its place.
  void add_agent(const agent& made);
  [[nodiscard]] std::optional<agent> find_agent(const std::string& name);

  // Who is told of runs of a session that background results set in motion; the last one set.
  void on_woken_run(const session_id& session, std::function<void(std::shared_ptr<run_feed>)> callback);
  void woken(const session_id& session, std::shared_ptr<run_feed> feed);

  [[nodiscard]] engine& to() noexcept { return *engine_; }
  [[nodiscard]] dispatcher& with() noexcept { return *dispatcher_; }
  [[nodiscard]] timer& clock() noexcept { return io_; }
  // What the runtime's destructor does. Who is in a call on another thread keeps the object, but no run.
  void close();
  std::vector<std::string> shutdown(std::chrono::milliseconds limit, shutdown_mode mode) {
    auto still = engine_->shutdown(limit, mode);
    mcp_.close();
    return still;
  }
  void log(log_level level, std::string_view message) const {
    if (options_.log)
      options_.log(level, message);
  }

 private:
  void add_tools();
  void add_tool(tool_ptr tool);
  void add_agents(build_environment& e, const std::vector<std::string>& reserved,
                  const std::vector<remote_agent_spec>& remotes);
  void begin_telemetry(telemetry_plan plan);
  [[nodiscard]] traced_model traced(const std::string& id);

  runtime_options options_;
  telemetry_plan plan_;                             // until telemetry has begun
  std::mutex mutex_;                                // guards what follows
  std::map<std::string, std::string> descriptions_; // of models, by id
  std::map<std::string, traced_model> traced_;      // likewise
  std::map<std::string, tool_ptr> tools_;
  skill_map skills_;
  std::unique_ptr<skill_copies> skill_copies_; // where there is a sandbox
  std::map<std::string, agent> agents_;
  std::map<session_id, std::function<void(std::shared_ptr<run_feed>)>> woken_;

  net::io_pool io_;
  model_client client_;
  std::shared_ptr<worker_threads> pages_ = std::make_shared<worker_threads>(2); // on which web pages are read
  std::unique_ptr<net::command_sandbox> sandbox_;                               // null: none
  mcp_servers mcp_;
  std::vector<std::shared_ptr<tool_source>> sources_; // of the configured MCP servers
  std::unique_ptr<dispatcher> dispatcher_;
  std::unique_ptr<actors::actor_engine> engine_;
  std::shared_ptr<worker_threads> secrets_; // on which secrets of remote agents are looked up
  std::unique_ptr<remote_agents> remotes_;
  std::unique_ptr<runtime_telemetry> telemetry_; // null: none
};

} // namespace troupe
