// Answers of Chat Completions from anybody.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_request.hpp>
#include <troupe/net/internal/openai_response.hpp>

#include "fuzz/provider_stream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  troupe::test::try_answer<troupe::net::openai_decoder>(
      data, size, [](const troupe::content& said) { return troupe::net::encode_openai_content(said, true); });
  return 0;
}
