// Text that people are shown: the same in one piece and in many, and inert on a terminal.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/sanitizer.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  troupe::stream_sanitizer stream;
  std::string pieces;
  for (std::size_t at = 0; at < size; at += 5)
    pieces += stream.push(text.substr(at, 5));
  pieces += stream.flush();
  if (pieces != troupe::sanitize_text(text))
    std::abort();
  for (const char c : troupe::escape_controls(text))
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
      std::abort();
  return 0;
}
