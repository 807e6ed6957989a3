// Agent files from anybody: definitions or messages, never a crash.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/agent_file.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto loaded = troupe::parse_agent_file(text, "fuzz.md", troupe::definition_origin::project);
  for (const auto& definition : loaded.definitions)
    if (!troupe::is_agent_slug(definition.name))
      std::abort();
  return 0;
}
