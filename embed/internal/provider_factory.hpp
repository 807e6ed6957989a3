// From the declaration of a model to its provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/runtime/definition.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <memory>

namespace troupe {

// Fails with bad_config when the provider is unknown, a key is missing or a scenario cannot be read; the message names
// the model. Reads the environment and files: the key stands in neither the declaration nor any message.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_provider(const model_spec& spec, const std::shared_ptr<net::http_client>& client, timer& clock);

} // namespace troupe
