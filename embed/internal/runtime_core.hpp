// What a runtime owns, in the order in which it ends.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/engine.hpp>
#include <troupe/embed/internal/dispatcher.hpp>
#include <troupe/embed/runtime.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/runtime/profile_builder.hpp>
#include <troupe/runtime/registry.hpp>

#include <map>
#include <memory>
#include <mutex>
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
  [[nodiscard]] build_environment environment(const std::vector<std::string>& reserved);
  [[nodiscard]] std::map<std::string, std::string> models();

  [[nodiscard]] engine& to() noexcept { return *engine_; }
  [[nodiscard]] dispatcher& with() noexcept { return *dispatcher_; }
  // What the runtime's destructor does. Who is in a call on another thread keeps the object, but no run.
  void close();
  std::vector<std::string> shutdown(std::chrono::milliseconds limit) { return engine_->shutdown(limit); }
  void log(log_level level, std::string_view message) const {
    if (options_.log)
      options_.log(level, message);
  }

 private:
  void add_tools();

  runtime_options options_;
  std::mutex mutex_;                                // guards what follows
  std::map<std::string, std::string> descriptions_; // of models, by id
  std::map<std::string, tool_ptr> tools_;

  net::io_pool io_;
  std::shared_ptr<net::http_client> client_;
  std::unique_ptr<dispatcher> dispatcher_;
  std::unique_ptr<actors::actor_engine> engine_;
};

} // namespace troupe
