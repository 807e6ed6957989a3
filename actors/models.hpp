// The models of an engine, by catalogue id.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/interfaces.hpp>
#include <troupe/actors/model_gate.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::actors {

// A model of the catalogue, ready to be called.
struct model_binding {
  std::shared_ptr<model_provider> provider;
  std::string model; // the provider's name
  std::shared_ptr<model_gate> gate;
  gateway_handle gateway;
  std::optional<std::uint32_t> max_output_tokens;
  model_price price{};
  std::vector<std::string> fallbacks; // catalogue ids, tried in order when this model has failed for good
};

// Thread-safe: models are added while agents run; an agent keeps the binding that it found.
class shared_models {
 public:
  void put(const std::string& id, model_binding binding) {
    std::lock_guard lock{mutex_};
    auto& known = models_[id];
    if (known)
      replaced_.push_back(std::move(known));
    known = std::make_shared<const model_binding>(std::move(binding));
  }

  // Null when there is no such model.
  [[nodiscard]] std::shared_ptr<const model_binding> find(const std::string& id) const {
    std::lock_guard lock{mutex_};
    auto found = models_.find(id);
    return found == models_.end() ? nullptr : found->second;
  }

  // How each model is doing, by catalogue id.
  [[nodiscard]] std::map<std::string, model_status> status() const {
    std::lock_guard lock{mutex_};
    std::map<std::string, model_status> all;
    for (const auto& [id, binding] : models_)
      all.emplace(id, binding->gate->status());
    return all;
  }

  // At shutdown: the gateways end, and nothing refers to them any more.
  void end_gateways() {
    std::lock_guard lock{mutex_};
    for (auto& [id, binding] : models_)
      replaced_.push_back(std::move(binding));
    models_.clear();
    for (const auto& binding : replaced_) {
      binding->gate->detach();
      caf::anon_send_exit(binding->gateway, caf::exit_reason::user_shutdown);
    }
    replaced_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const model_binding>> models_;
  std::vector<std::shared_ptr<const model_binding>> replaced_; // agents may still use them
};

} // namespace troupe::actors
