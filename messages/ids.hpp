// Names of things. Each kind of id is its own type, so that one is never passed for another.
//
// Forms (all chosen here; none comes from a model provider):
//   session_id   what the user gave, or "s-" and 12 random letters
//   run_id       "<session>/r<n>", n counts the runs of the session
//   agent_id     "<session>/<n>", n counts the agents of the session; the root agent is 0
//   call_id      "c<agent>-<turn>-<index>": unique in the session, free of '.', '@' and '/', which branches
//   use question_id  the call that asks: its call_id event_id     "<session>/<agent>/e<n>", n counts the
//   events of the agent
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

template <class Tag>
class id {
 public:
  id() = default;
  explicit id(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] const std::string& str() const noexcept { return text_; }
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }

  friend bool operator==(const id&, const id&) = default;
  friend auto operator<=>(const id&, const id&) = default;

 private:
  std::string text_;
};

using session_id = id<struct session_tag>;
using run_id = id<struct run_tag>;
using agent_id = id<struct agent_tag>;
using call_id = id<struct call_tag>;

// An agent's number in its session; the root agent is 0.
using agent_number = std::uint32_t;

[[nodiscard]] run_id make_run_id(const session_id& session, std::uint32_t number);
[[nodiscard]] agent_id make_agent_id(const session_id& session, agent_number number);
[[nodiscard]] call_id make_call_id(agent_number agent, std::uint32_t turn, std::uint32_t index);

// A session id that nobody else has: "s-" and 12 random lower-case letters and digits.
[[nodiscard]] session_id make_session_id();

// The session part of an agent id or run id, and the number; false when `text` has another form.
[[nodiscard]] bool split_agent_id(const agent_id& id, session_id& session, agent_number& number);
// The agent's number in a call id that make_call_id made; false when `id` has another form.
[[nodiscard]] bool agent_of_call(const call_id& id, agent_number& number);
[[nodiscard]] bool session_of_run(const run_id& id, session_id& session);

// True if `text` may be a session id: 1 to 128 characters out of letters, digits and "-_.:".
[[nodiscard]] bool valid_session_id(std::string_view text) noexcept;

} // namespace troupe

template <class Tag>
struct std::hash<troupe::id<Tag>> {
  // Not noexcept: so libstdc++ keeps the hash beside each key, and looks at no string of another one to find its bucket.
  std::size_t operator()(const troupe::id<Tag>& x) const { return std::hash<std::string>{}(x.str()); }
};
