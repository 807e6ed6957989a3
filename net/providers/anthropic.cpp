// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/anthropic_request.hpp>
#include <troupe/net/internal/anthropic_response.hpp>
#include <troupe/net/internal/http_provider.hpp>
#include <troupe/net/providers/anthropic.hpp>

#include <utility>

namespace troupe::net {

result<std::shared_ptr<model_provider>> make_anthropic_provider(anthropic_options options,
                                                                std::shared_ptr<http_client> client) {
  auto headers = key_header("x-api-key", options.api_key);
  headers.emplace_back("anthropic-version", options.version);
  const auto resumptions = options.max_resumptions;
  return make_coded_provider<anthropic_decoder>(
      std::move(options), "https://api.anthropic.com/v1", std::move(headers),
      [](const model_request&) { return std::string("/messages"); }, encode_anthropic_request,
      std::move(client), resumptions);
}

} // namespace troupe::net
