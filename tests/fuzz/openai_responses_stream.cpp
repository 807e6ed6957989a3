// Answers of Responses from anybody.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_responses_request.hpp>
#include <troupe/net/internal/openai_responses_response.hpp>

#include "fuzz/provider_stream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  troupe::test::try_answer<troupe::net::openai_responses_decoder>(
      data, size,
      [](const troupe::content& said) { return troupe::net::encode_openai_responses_content(said); });
  return 0;
}
