// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/openai_call.hpp>
#include <troupe/net/internal/openai_request.hpp>
#include <troupe/net/providers/openai.hpp>

#include <utility>

namespace troupe::net {

namespace {

// What the runtime holds. Once the sink has had its last call, the rest of the answer is read and dropped, so
// that the connection can serve again.
class held_call final : public model_call {
 public:
  held_call(std::shared_ptr<openai_call> call, http_call http)
      : call_(std::move(call)), http_(std::move(http)) {}
  ~held_call() override {
    if (call_->is_over())
      http_.detach();
  }

 private:
  std::shared_ptr<openai_call> call_;
  http_call http_;
};

class openai_provider final : public model_provider {
 public:
  openai_provider(openai_options options, std::shared_ptr<const http_origin> origin,
                  std::shared_ptr<const std::string> header_lines, std::shared_ptr<http_client> client)
      : options_(std::move(options)), origin_(std::move(origin)), header_lines_(std::move(header_lines)),
        client_(std::move(client)), target_(origin_->base_path() + "/chat/completions"),
        endpoint_(std::make_shared<const model_endpoint>(
            model_endpoint{origin_->text() + target_, options_.api_key})) {}

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    auto call =
        std::make_shared<openai_call>(endpoint_, std::move(sink), request->stream, options_.max_event_bytes);
    auto http = client_->start({.origin = origin_,
                                .method = "POST",
                                .target = target_,
                                .header_lines = header_lines_,
                                .body = encode_openai_request(*request, options_),
                                .timeouts = options_.timeouts},
                               call);
    return std::make_unique<held_call>(std::move(call), std::move(http));
  }

 private:
  const openai_options options_;
  const std::shared_ptr<const http_origin> origin_;
  const std::shared_ptr<const std::string> header_lines_;
  const std::shared_ptr<http_client> client_;
  const std::string target_;
  const std::shared_ptr<const model_endpoint> endpoint_;
};

} // namespace

result<std::shared_ptr<model_provider>> make_openai_provider(openai_options options,
                                                             std::shared_ptr<http_client> client) {
  auto origin = http_origin::parse(options.base_url, options.ca_file);
  if (!origin)
    return std::move(origin).failure();
  auto headers = options.headers;
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("Accept", "application/json, text/event-stream");
  if (!options.api_key.empty())
    headers.emplace_back("Authorization", "Bearer " + options.api_key);
  auto lines = make_header_lines(headers);
  if (!lines)
    return std::move(lines).failure();
  return {std::make_shared<openai_provider>(std::move(options), *std::move(origin), *std::move(lines),
                                            std::move(client))};
}

} // namespace troupe::net
