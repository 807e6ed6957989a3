// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/http_provider.hpp>
#include <troupe/net/internal/openai_request.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/net/providers/openai.hpp>

#include <utility>

namespace troupe::net {

namespace {

class openai_protocol final : public model_protocol {
 public:
  explicit openai_protocol(openai_options options) : options_(std::move(options)) {}

  std::string target(const model_request&) const override { return "/chat/completions"; }
  std::vector<body_piece> encode(const model_request& request, std::string) const override {
    return encode_openai_request(request, options_);
  }
  std::unique_ptr<answer_decoder> make_decoder(const model_request& request) const override {
    return std::make_unique<openai_decoder>(request.stream);
  }

 private:
  const openai_options options_;
};

} // namespace

result<std::shared_ptr<model_provider>> make_openai_provider(openai_options options,
                                                             std::shared_ptr<http_client> client) {
  model_service service = options;
  std::vector<std::pair<std::string, std::string>> headers;
  if (!options.api_key.empty())
    headers.emplace_back("Authorization", "Bearer " + options.api_key);
  return make_http_provider(std::move(service), "https://api.openai.com/v1", std::move(headers),
                            std::make_unique<openai_protocol>(std::move(options)), std::move(client));
}

} // namespace troupe::net
