// Configurations from anybody: values or messages, never a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/config.hpp>

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  (void)troupe::parse_config(text, "fuzz.yaml");
  return 0;
}
