// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/model_client.hpp>
#include <troupe/embed/internal/proxy_environment.hpp>
#include <troupe/net/http_tape.hpp>

#include <cstdlib>

namespace troupe {
namespace {

void read_proxies(net::http_client_options& out, provider_conditions& conditions) {
  auto rules =
      net::proxy_rules::parse(read_proxy_settings([](const char* name) { return std::getenv(name); }));
  if (rules)
    out.proxies = *std::move(rules);
  else
    conditions.proxy_fault = rules.failure();
}

} // namespace

result<model_client> make_model_client(net::io_pool& pool, const model_client_options& options) {
  if (!options.record.empty() && !options.replay.empty())
    return error{errc::bad_config, "A run is recorded or replayed, not both."};
  model_client out;
  net::http_client_options http;
  if (!options.replay.empty()) {
    auto player = net::make_http_player(options.replay);
    if (!player)
      return std::move(player).failure();
    http.tape = *std::move(player);
    out.conditions.is_replay = true;
  } else {
    if (!options.record.empty()) {
      auto recorder = net::make_http_recorder(options.record);
      if (!recorder)
        return std::move(recorder).failure();
      http.tape = *std::move(recorder);
    }
    if (options.proxy_from_environment)
      read_proxies(http, out.conditions);
  }
  out.http = std::make_shared<net::http_client>(pool, std::move(http));
  return out;
}

} // namespace troupe
