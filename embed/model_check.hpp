// Whether models can be used: one small call each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/error.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/runtime/definition.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

struct model_check_options {
  std::chrono::milliseconds timeout{30'000}; // of one call
  std::size_t parallel = 8;                  // calls at a time
  bool proxy_from_environment = true;
  std::filesystem::path record{}; // as in runtime_options
  std::filesystem::path replay{};
};

struct model_check {
  std::string id{};
  std::string provider{};
  std::string model{};                 // the provider's name
  std::optional<error> failure{};      // why it cannot be used; absent when it answered
  std::chrono::milliseconds latency{}; // from the request to the whole answer; 0 when nothing was asked
};

// Asks each model for one word, without a retry, and gives what came of it in the order of `models`. An answer that is
// empty since thinking used up its tokens is one, too. Blocks until all have answered or failed. Fails with bad_config
// when a folder of the options cannot be used.
[[nodiscard]] result<std::vector<model_check>> check_models(const std::vector<model_spec>& models,
                                                            const model_check_options& options = {});

} // namespace troupe
