// The remote agents of a runtime: each definition is connected once and works as a model that no agent can choose.
//
// Thread-safe. The surroundings and the engine outlive it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/engine.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/net/a2a/a2a_provider.hpp>
#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/profile_builder.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace troupe {

class remote_agents {
 public:
  using add_model = std::function<void(actors::engine_model)>;

  remote_agents(net::a2a_surroundings surroundings, add_model add)
      : surroundings_(std::move(surroundings)), add_(std::move(add)) {}

  // Connects the remote ones among the agents of `environment`, and says there how they are reached, or why not. Waits at
  // most `patience` for cards that are fetched: they only add to descriptions, and are asked for again with the first call.
  void connect(build_environment& environment, std::chrono::milliseconds patience);

 private:
  struct connection {
    std::string source; // what it was made of
    std::string model;
    std::shared_ptr<net::a2a_provider> provider;
  };
  [[nodiscard]] result<connection> connect(const agent_definition& d);

  const net::a2a_surroundings surroundings_;
  const add_model add_;
  std::mutex mutex_;
  std::map<std::string, std::vector<connection>> by_name_;
};

} // namespace troupe
