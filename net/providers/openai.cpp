// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/http_provider.hpp>
#include <troupe/net/internal/openai_request.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/net/providers/openai.hpp>

#include <utility>

namespace troupe::net {

result<std::shared_ptr<model_provider>> make_openai_provider(openai_options options,
                                                             std::shared_ptr<http_client> client) {
  auto headers = key_header("Authorization", options.api_key, "Bearer ");
  return make_coded_provider<openai_decoder>(
      std::move(options), "https://api.openai.com/v1", std::move(headers),
      [](const model_request&) { return std::string("/chat/completions"); },
      [](const model_request& request, const openai_options& o, const std::string&) {
        return encode_openai_request(request, o);
      },
      std::move(client));
}

} // namespace troupe::net
