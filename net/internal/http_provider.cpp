// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/http_provider.hpp>
#include <troupe/net/internal/model_exchange.hpp>

namespace troupe::net {

namespace {

// What the runtime holds.
class held_call final : public model_call {
 public:
  explicit held_call(std::shared_ptr<model_exchange> exchange) : exchange_(std::move(exchange)) {}
  ~held_call() override { exchange_->cancel(); }

 private:
  std::shared_ptr<model_exchange> exchange_;
};

class http_provider final : public model_provider {
 public:
  http_provider(model_service service, std::shared_ptr<const http_origin> origin,
                std::shared_ptr<const std::string> header_lines,
                std::unique_ptr<const model_protocol> protocol, std::shared_ptr<http_client> client)
      : service_(std::move(service)), origin_(std::move(origin)), header_lines_(std::move(header_lines)),
        protocol_(std::move(protocol)), client_(std::move(client)) {}

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    exchange_setup setup;
    auto target = origin_->base_path() + protocol_->target(*request);
    setup.endpoint = std::make_shared<const model_endpoint>(
        model_endpoint{origin_->text() + target.substr(0, target.find('?')), service_.api_key});
    setup.sink = std::move(sink);
    setup.decoder = protocol_->make_decoder(*request);
    setup.stream = request->stream;
    setup.max_event_bytes = service_.max_event_bytes;
    setup.max_resumptions = protocol_->max_resumptions();
    if (setup.max_resumptions > 0)
      setup.send_again = [this, target, request](const std::string& extra,
                                                 std::shared_ptr<http_handler> handler) {
        return send(target, protocol_->encode(*request, extra), std::move(handler));
      };
    auto exchange = std::make_shared<model_exchange>(std::move(setup));
    exchange->open([&] { return send(std::move(target), protocol_->encode(*request, {}), exchange); });
    return std::make_unique<held_call>(std::move(exchange));
  }

 private:
  http_call send(std::string target, std::vector<body_piece> body,
                 std::shared_ptr<http_handler> handler) const {
    return client_->start({.origin = origin_,
                           .method = "POST",
                           .target = std::move(target),
                           .header_lines = header_lines_,
                           .body = std::move(body),
                           .timeouts = service_.timeouts},
                          std::move(handler));
  }

  const model_service service_;
  const std::shared_ptr<const http_origin> origin_;
  const std::shared_ptr<const std::string> header_lines_;
  const std::unique_ptr<const model_protocol> protocol_;
  const std::shared_ptr<http_client> client_;
};

} // namespace

result<std::shared_ptr<model_provider>>
make_http_provider(model_service service, std::string_view default_url,
                   std::vector<std::pair<std::string, std::string>> own_headers,
                   std::unique_ptr<const model_protocol> protocol, std::shared_ptr<http_client> client) {
  if (service.base_url.empty())
    service.base_url = default_url;
  auto origin = http_origin::parse(service.base_url, service.ca_file);
  if (!origin)
    return std::move(origin).failure();
  auto headers = service.headers;
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("Accept", "application/json, text/event-stream");
  for (auto& header : own_headers)
    headers.push_back(std::move(header));
  auto lines = make_header_lines(headers);
  if (!lines)
    return std::move(lines).failure();
  return {std::make_shared<http_provider>(std::move(service), *std::move(origin), *std::move(lines),
                                          std::move(protocol), std::move(client))};
}

} // namespace troupe::net
