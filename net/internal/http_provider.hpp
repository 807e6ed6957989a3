// A model behind HTTP: the part that is the same for all protocols.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_message.hpp>
#include <troupe/net/internal/answer_decoder.hpp>
#include <troupe/net/providers/model_service.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

// What a protocol says about its exchanges. Immutable, thread-safe.
class model_protocol {
 public:
  virtual ~model_protocol() = default;

  // The path after that of the base URL, with its query.
  [[nodiscard]] virtual std::string target(const model_request& request) const = 0;
  // The pieces of the body; `extra` is a message of answer_decoder::resume(), or empty.
  [[nodiscard]] virtual std::vector<body_piece> encode(const model_request& request,
                                                       const std::string& extra) const = 0;
  [[nodiscard]] virtual std::unique_ptr<answer_decoder> make_decoder(const model_request& request) const = 0;
  // How often an answer that the service has paused is resumed within one call.
  [[nodiscard]] virtual std::uint32_t max_resumptions() const { return 0; }
};

// A protocol made of its functions and the class that reads its answers.
template <class Decoder, class Options>
class coded_protocol final : public model_protocol {
 public:
  using target_function = std::string (*)(const model_request&);
  using encode_function = std::vector<body_piece> (*)(const model_request&, const Options&,
                                                      const std::string& extra);

  coded_protocol(Options options, target_function find_target, encode_function write,
                 std::uint32_t resumptions)
      : options_(std::move(options)), target_(find_target), encode_(write), max_resumptions_(resumptions) {}

  std::string target(const model_request& request) const override { return target_(request); }
  std::vector<body_piece> encode(const model_request& request, const std::string& extra) const override {
    return encode_(request, options_, extra);
  }
  std::unique_ptr<answer_decoder> make_decoder(const model_request& request) const override {
    return std::make_unique<Decoder>(request.stream);
  }
  std::uint32_t max_resumptions() const override { return max_resumptions_; }

 private:
  const Options options_;
  const target_function target_;
  const encode_function encode_;
  const std::uint32_t max_resumptions_;
};

// `own_headers` are the protocol's, with the key. Fails with bad_config.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_http_provider(model_service service, std::string_view default_url,
                   std::vector<std::pair<std::string, std::string>> own_headers,
                   std::unique_ptr<const model_protocol> protocol, std::shared_ptr<http_client> client);

// The same for a protocol that is made of its functions.
template <class Decoder, class Options>
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_coded_provider(Options options, std::string_view default_url,
                    std::vector<std::pair<std::string, std::string>> own_headers,
                    typename coded_protocol<Decoder, Options>::target_function target,
                    typename coded_protocol<Decoder, Options>::encode_function encode,
                    std::shared_ptr<http_client> client, std::uint32_t max_resumptions = 0) {
  model_service service = options;
  return make_http_provider(
      std::move(service), default_url, std::move(own_headers),
      std::make_unique<coded_protocol<Decoder, Options>>(std::move(options), target, encode, max_resumptions),
      std::move(client));
}

// A header with the key; none when the key is empty.
[[nodiscard]] inline std::vector<std::pair<std::string, std::string>>
key_header(const char* name, const std::string& key, const char* before = "") {
  if (key.empty())
    return {};
  return {{name, before + key}};
}

} // namespace troupe::net
