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
                                                       std::string extra) const = 0;
  [[nodiscard]] virtual std::unique_ptr<answer_decoder> make_decoder(const model_request& request) const = 0;
  // How often an answer that the service has paused is resumed within one call.
  [[nodiscard]] virtual std::uint32_t max_resumptions() const { return 0; }
};

// `own_headers` are the protocol's, with the key. Fails with bad_config.
[[nodiscard]] result<std::shared_ptr<model_provider>>
make_http_provider(model_service service, std::string_view default_url,
                   std::vector<std::pair<std::string, std::string>> own_headers,
                   std::unique_ptr<const model_protocol> protocol, std::shared_ptr<http_client> client);

} // namespace troupe::net
