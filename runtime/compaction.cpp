// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/compaction.hpp>

namespace troupe {
namespace {

std::uint64_t size_of(const text_part& p) {
  return p.text.size();
}
std::uint64_t size_of(const thought_part& p) {
  return p.text.size();
}
std::uint64_t size_of(const tool_call_part& p) {
  return p.name.size() + p.arguments.size();
}
std::uint64_t size_of(const tool_result_part& p) {
  return p.name.size() + p.text.size();
}
std::uint64_t size_of(const data_part& p) {
  return p.base64.size() + p.uri.size();
}

} // namespace

std::uint64_t estimate_bytes(const content& c) noexcept {
  std::uint64_t bytes = 0;
  for (const auto& p : c.parts)
    bytes += std::visit([](const auto& value) { return size_of(value); }, p.value) + p.blob.size();
  return bytes;
}

std::uint32_t contents_to_compact(const transcript& conversation, std::uint64_t keep_bytes,
                                  bool more_follows) {
  auto first = conversation.size();
  std::uint64_t kept = 0;
  while (first > 0) {
    kept += estimate_bytes(*conversation[first - 1]);
    const bool must_stay = first == conversation.size() && !more_follows;
    if (kept > keep_bytes && !must_stay)
      break;
    --first;
  }
  // Results belong to the calls before them.
  while (first > 0 && first < conversation.size() && conversation[first]->role == role::tool)
    --first;
  return static_cast<std::uint32_t>(first);
}

} // namespace troupe
