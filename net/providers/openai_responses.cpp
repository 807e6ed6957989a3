// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/http_provider.hpp>
#include <troupe/net/internal/openai_responses_request.hpp>
#include <troupe/net/internal/openai_responses_response.hpp>
#include <troupe/net/providers/openai_responses.hpp>

#include <utility>

namespace troupe::net {

namespace {

class responses_protocol final : public model_protocol {
 public:
  explicit responses_protocol(openai_responses_options options) : options_(std::move(options)) {}

  std::string target(const model_request&) const override { return "/responses"; }
  std::vector<body_piece> encode(const model_request& request, std::string) const override {
    return encode_openai_responses_request(request, options_);
  }
  std::unique_ptr<answer_decoder> make_decoder(const model_request& request) const override {
    return std::make_unique<openai_responses_decoder>(request.stream);
  }

 private:
  const openai_responses_options options_;
};

} // namespace

result<std::shared_ptr<model_provider>> make_openai_responses_provider(openai_responses_options options,
                                                                       std::shared_ptr<http_client> client) {
  model_service service = options;
  std::vector<std::pair<std::string, std::string>> headers;
  if (!options.api_key.empty())
    headers.emplace_back("Authorization", "Bearer " + options.api_key);
  return make_http_provider(std::move(service), "https://api.openai.com/v1", std::move(headers),
                            std::make_unique<responses_protocol>(std::move(options)), std::move(client));
}

} // namespace troupe::net
