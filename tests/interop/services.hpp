// The providers and decoders by the name of their API, for tests over recordings.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>
#include <troupe/net/internal/anthropic_response.hpp>
#include <troupe/net/internal/gemini_response.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/net/providers/anthropic.hpp>
#include <troupe/net/providers/gemini.hpp>
#include <troupe/net/providers/openai.hpp>

#include <memory>
#include <string>

namespace troupe::test {

inline std::unique_ptr<net::answer_decoder> make_decoder(const std::string& api, bool stream) {
  if (api == "anthropic")
    return std::make_unique<net::anthropic_decoder>(stream);
  if (api == "gemini")
    return std::make_unique<net::gemini_decoder>(stream);
  return std::make_unique<net::openai_decoder>(stream);
}

inline std::shared_ptr<model_provider> make_provider(const std::string& api, const std::string& url,
                                                     const std::shared_ptr<net::http_client>& client) {
  auto with = [&](auto options, auto make) {
    options.base_url = url;
    options.api_key = "key";
    return *make(std::move(options), client);
  };
  if (api == "anthropic") {
    net::anthropic_options options;
    options.max_resumptions = 0; // a recording is one exchange
    return with(options, net::make_anthropic_provider);
  }
  if (api == "gemini")
    return with(net::gemini_options{}, net::make_gemini_provider);
  return with(net::openai_options{}, net::make_openai_provider);
}

} // namespace troupe::test
