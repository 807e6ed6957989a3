// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/gemini_request.hpp>
#include <troupe/net/internal/gemini_response.hpp>
#include <troupe/net/internal/http_provider.hpp>
#include <troupe/net/providers/gemini.hpp>

#include <utility>

namespace troupe::net {

namespace {

class gemini_protocol final : public model_protocol {
 public:
  explicit gemini_protocol(gemini_options options) : options_(std::move(options)) {}

  std::string target(const model_request& request) const override { return gemini_target(request); }
  std::vector<body_piece> encode(const model_request& request, std::string) const override {
    return encode_gemini_request(request, options_);
  }
  std::unique_ptr<answer_decoder> make_decoder(const model_request& request) const override {
    return std::make_unique<gemini_decoder>(request.stream);
  }

 private:
  const gemini_options options_;
};

} // namespace

result<std::shared_ptr<model_provider>> make_gemini_provider(gemini_options options,
                                                             std::shared_ptr<http_client> client) {
  model_service service = options;
  std::vector<std::pair<std::string, std::string>> headers;
  if (!options.api_key.empty())
    headers.emplace_back("x-goog-api-key", options.api_key);
  return make_http_provider(std::move(service), "https://generativelanguage.googleapis.com/v1beta",
                            std::move(headers), std::make_unique<gemini_protocol>(std::move(options)),
                            std::move(client));
}

} // namespace troupe::net
