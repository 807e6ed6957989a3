// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/telemetry/captured_content.hpp>

namespace troupe {

std::string shown_text(std::string_view text, std::size_t max_bytes) {
  // What would be cut off anyway need not be looked at; a secret at the cut is masked before it.
  const auto near = utf8_prefix(text, max_bytes + stream_sanitizer::max_lookahead);
  return std::string{utf8_prefix(sanitize_text(near), max_bytes)};
}

std::string shown_arguments(std::string_view text, std::size_t max_bytes) {
  if (const auto parsed = parse_json(text))
    return std::string{utf8_prefix(dump_json(sanitize_json(*parsed)), max_bytes)};
  return shown_text(text, max_bytes);
}

captured_message::captured_message(std::string_view role, std::size_t max_bytes)
    : role_(role), max_(max_bytes), left_(max_bytes) {}

void captured_message::add(const char* type, std::string_view text) {
  if (left_ == 0)
    return;
  auto shown = shown_text(text, left_);
  left_ -= shown.size();
  parts_.push_back({{"type", type}, {"content", std::move(shown)}});
}

void captured_message::add_call(std::string_view id, std::string_view name, std::string_view arguments) {
  if (left_ == 0)
    return;
  auto shown = shown_arguments(arguments, left_);
  left_ -= shown.size();
  parts_.push_back({{"type", "tool_call"}, {"id", id}, {"name", name}, {"arguments", std::move(shown)}});
}

void captured_message::add(const content& message) {
  for (const auto& p : message.parts)
    if (const auto* said = std::get_if<text_part>(&p.value))
      add_text(said->text);
}

std::string captured_message::text() const {
  return dump_json(nlohmann::json::array({{{"role", role_}, {"parts", parts_}}}));
}

} // namespace troupe
