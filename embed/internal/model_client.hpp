// The HTTP client that the models of a runtime share, and what holds for providers on it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/internal/provider_factory.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>

#include <filesystem>
#include <memory>

namespace troupe {

struct model_client_options {
  std::filesystem::path record{}; // folder for a recording; empty: none
  std::filesystem::path replay{}; // folder of a recording that is played instead of asking; empty: none
  bool proxy_from_environment = true;
};

struct model_client {
  std::shared_ptr<net::http_client> http{};
  provider_conditions conditions{};
};

// Fails with bad_config when a folder cannot be used. A proxy that cannot be used is a condition of the providers, since
// who asks no service needs none. The pool outlives the client.
[[nodiscard]] result<model_client> make_model_client(net::io_pool& pool, const model_client_options& options);

} // namespace troupe
