// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/anthropic_request.hpp>
#include <troupe/net/internal/anthropic_response.hpp>
#include <troupe/net/internal/http_provider.hpp>
#include <troupe/net/providers/anthropic.hpp>

#include <utility>

namespace troupe::net {

namespace {

class anthropic_protocol final : public model_protocol {
 public:
  explicit anthropic_protocol(anthropic_options options) : options_(std::move(options)) {}

  std::string target(const model_request&) const override { return "/messages"; }
  std::vector<body_piece> encode(const model_request& request, std::string extra) const override {
    return encode_anthropic_request(request, options_, std::move(extra));
  }
  std::unique_ptr<answer_decoder> make_decoder(const model_request& request) const override {
    return std::make_unique<anthropic_decoder>(request.stream);
  }
  std::uint32_t max_resumptions() const override { return options_.max_resumptions; }

 private:
  const anthropic_options options_;
};

} // namespace

result<std::shared_ptr<model_provider>> make_anthropic_provider(anthropic_options options,
                                                                std::shared_ptr<http_client> client) {
  model_service service = options;
  std::vector<std::pair<std::string, std::string>> headers{{"anthropic-version", options.version}};
  if (!options.api_key.empty())
    headers.emplace_back("x-api-key", options.api_key);
  return make_http_provider(std::move(service), "https://api.anthropic.com/v1", std::move(headers),
                            std::make_unique<anthropic_protocol>(std::move(options)), std::move(client));
}

} // namespace troupe::net
