// From the declaration of a model to its provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <memory>
#include <optional>

namespace troupe {

struct provider_conditions {
  bool is_replay = false;             // answers come from a recording: neither a key nor a CA file is needed
  std::optional<error> proxy_fault{}; // why the proxies cannot be used; then no provider of a service is made
};

// Fails with bad_config when the provider is unknown, a key is missing or a scenario cannot be read; the message names
// the model. Reads the environment and files: the key stands in neither the declaration nor any message.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_provider(const model_spec& spec, const std::shared_ptr<net::http_client>& client, timer& clock,
              const provider_conditions& conditions = {});

} // namespace troupe
