// JSON from anybody: within its bounds or an error, the same again when it is written, and never more than the reader of
// answers takes.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/runtime/json_text.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  troupe::net::json_reader reader{text};
  reader.skip();
  const bool readable = reader.at_end();
  const auto value = troupe::parse_json(text);
  if (!value)
    return 0;
  const auto again = troupe::parse_json(troupe::dump_json(*value));
  if (!readable || !again || *again != *value)
    std::abort();
  return 0;
}
