// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/trace_span.hpp>

namespace troupe {

std::size_t approximate_bytes(const attribute_list& attributes) {
  std::size_t bytes = attributes.capacity() * sizeof(attribute_list::value_type);
  for (const auto& [key, value] : attributes)
    if (const auto* text = std::get_if<std::string>(&value))
      bytes += text->size();
  return bytes;
}

std::size_t approximate_bytes(const trace_span& span) {
  std::size_t bytes = sizeof(trace_span) + span.name.size() + span.status_message.size() +
                      approximate_bytes(span.attributes) + span.links.size() * sizeof(span_link);
  for (const auto& e : span.events)
    bytes += sizeof(span_event) + approximate_bytes(e.attributes);
  return bytes;
}

} // namespace troupe
