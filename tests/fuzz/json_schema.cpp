// Schemas and values from anybody: the first line is the schema, the rest the value. Both questions have one answer.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/json_text.hpp>

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto end = text.find('\n');
  if (end == std::string_view::npos)
    return 0;
  const auto schema = troupe::parse_json(text.substr(0, end));
  const auto value = troupe::parse_json(text.substr(end + 1));
  if (!schema || !value)
    return 0;
  troupe::schema_options options;
  options.max_steps = 20'000; // so that a step of the fuzzer is short
  const auto compiled = troupe::json_schema::compile(*schema, options);
  if (compiled && compiled->valid(*value) != compiled->check(*value).empty())
    std::abort();
  return 0;
}
