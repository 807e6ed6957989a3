// Event streams from anybody: the same events however the bytes are cut.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/sse_parser.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

struct recorder final : troupe::net::sse_events {
  void on_event(std::string_view name, std::string_view data) override {
    log.append(name).append(1, '\n').append(data).append(1, '\0');
  }
  std::string log;
};

std::string read(std::string_view bytes, std::size_t piece) {
  troupe::net::sse_parser parser{4096};
  recorder events;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    if (!parser.feed(bytes.substr(at, piece), events))
      return "too large";
  parser.finish(events);
  return events.log;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  if (size <= 4096 && read(bytes, size + 1) != read(bytes, 1))
    std::abort();
  (void)read(bytes, 7);
  return 0;
}
