// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>

#include <charconv>
#include <string_view>

namespace troupe {

std::optional<std::size_t> index_of(const call_id& id) noexcept {
  std::string_view text = id.str();
  auto dash = text.rfind('-');
  if (dash == std::string_view::npos)
    return std::nullopt;
  std::size_t index = 0;
  auto [end, ec] = std::from_chars(text.data() + dash + 1, text.data() + text.size(), index);
  if (ec != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return index;
}

const open_call* find_open(const agent_state& state, const call_id& id) noexcept {
  auto index = index_of(id);
  if (!index || *index >= state.calls.size())
    return nullptr;
  const auto& call = state.calls[*index];
  return call.call == id && !call.result ? &call : nullptr;
}

open_call* find_open(agent_state& state, const call_id& id) noexcept {
  return const_cast<open_call*>(find_open(static_cast<const agent_state&>(state), id));
}

content waiting_content(const agent_state& state, std::size_t results, std::size_t hints) {
  content c;
  c.role = role::user;
  for (std::size_t i = 0; i < results; ++i)
    c.parts.push_back({text_part{prompt_text::background_result((*state.background)[i])}, {}});
  if (hints > 0)
    c.parts.push_back({text_part{prompt_text::hints({state.hints->data(), hints})}, {}});
  return c;
}

} // namespace troupe
