// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/gemini_request.hpp>
#include <troupe/net/internal/gemini_response.hpp>
#include <troupe/net/internal/http_provider.hpp>
#include <troupe/net/providers/gemini.hpp>

#include <utility>

namespace troupe::net {

result<std::shared_ptr<model_provider>> make_gemini_provider(gemini_options options,
                                                             std::shared_ptr<http_client> client) {
  auto headers = key_header("x-goog-api-key", options.api_key);
  return make_coded_provider<gemini_decoder>(
      std::move(options), "https://generativelanguage.googleapis.com/v1beta", std::move(headers),
      gemini_target,
      [](const model_request& request, const gemini_options& o, const std::string&) {
        return encode_gemini_request(request, o);
      },
      std::move(client));
}

} // namespace troupe::net
