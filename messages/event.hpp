// The one record of everything that happens.
//
// Events are values; once they are stamped with a sequence number they are shared as `event_batch_ptr` and
// never change. The same record serves the program that embeds troupe, the terminal, the dashboard, the log
// and the store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>
#include <troupe/messages/error.hpp>
#include <troupe/messages/ids.hpp>
#include <troupe/messages/outcome.hpp>
#include <troupe/messages/usage.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe {

// Wall-clock time; microseconds in JSON.
using timestamp = std::chrono::sys_time<std::chrono::microseconds>;

// What all events of one agent in one run have in common.
struct event_origin {
  session_id session;
  run_id run;
  agent_id agent;
  agent_number number = 0;
  std::string author;  // "user" or the agent's name
  std::string branch;  // "analyst", "analyst.checker@c0-1-2"
  call_id parent_call; // the call that started this agent; empty for a root agent
};
using event_origin_ptr = std::shared_ptr<const event_origin>;

// Numbers are in memory only; the names of to_string are what is stored.
enum class event_kind : std::uint8_t {
  user_message,
  model_text,
  thought,
  tool_call,
  tool_result,
  agent_started,
  agent_ended,
  question,
  answer,
  steering,
  background_result,
  state,
  compaction,
  delivered,
  warning,
  error,
  other, // a kind that this version does not know; passed on with its name and body
};

[[nodiscard]] std::string_view to_string(event_kind k) noexcept;
[[nodiscard]] event_kind event_kind_from_string(std::string_view name) noexcept;

// A message to the agent: the user's prompt, or the request of a parent.
struct user_message_body {
  content_ptr content;
};

// The pieces of one model answer share `turn`; they come in the order in which the model gave them.
struct model_text_body {
  std::uint32_t turn = 0;
  std::string text;
  shared_text blob;
};

struct thought_body {
  std::uint32_t turn = 0;
  std::string text;
  shared_text blob;
};

struct tool_call_body {
  std::uint32_t turn = 0;
  call_id call;
  std::string name;
  std::string arguments; // as the model wrote them
  shared_text blob;
};

// Exactly one for each tool_call. `code` is set when is_error. `data` is shown to the model after the turn's results.
struct tool_result_body {
  call_id call;
  std::string name;
  std::string text;
  bool is_error = false;
  std::optional<errc> code;
  std::vector<data_part> data{};
};

struct agent_started_body {
  std::string name;
  std::string kind;  // "root", "prebuilt", "spawned", "registry"
  std::string model; // catalogue id
  agent_number parent = 0;
  bool background =
      false; // a child that works in the background; a run of the root that such work set in motion
};

struct agent_ended_body {
  troupe::outcome outcome;
  std::uint32_t turns = 0; // model calls of this agent in this run
};

struct question_body {
  call_id question;
  std::string message;
  nlohmann::json schema;
  std::string reason; // "policy", "agent", or "tool" when a call that runs asks
};

struct answer_body {
  call_id question;
  nlohmann::json value;
  std::string by;
};

struct steering_body {
  std::string text;
  std::string by;
};

struct background_result_body {
  call_id task;
  std::string name;
  troupe::outcome outcome;
};

// `found` marks a shared key as the run found it at its start, rather than a write.
struct state_body {
  std::string key;
  nlohmann::json value; // null removes the key
  bool found = false;
};

// The oldest `contents` contents of the conversation are replaced by `summary`.
struct compaction_body {
  std::uint32_t contents = 0;
  std::string summary;
};

// What had been waiting (hints, background results) now stands in the conversation.
struct delivered_body {
  std::uint32_t hints = 0;
  std::uint32_t background_results = 0;
};

// `note` is what the model is told, empty when it is told nothing. `grace` marks a limit that is followed by
// the grace call.
struct warning_body {
  errc code = errc::internal;
  std::string message;
  std::string note;
  bool grace = false;
};

struct error_body {
  errc code = errc::internal;
  std::string message;
};

struct other_body {
  std::string kind;
  nlohmann::json body;
};

// In the order of event_kind.
using event_body = std::variant<user_message_body, model_text_body, thought_body, tool_call_body,
                                tool_result_body, agent_started_body, agent_ended_body, question_body,
                                answer_body, steering_body, background_result_body, state_body,
                                compaction_body, delivered_body, warning_body, error_body, other_body>;

// How long what an event tells of took: a model call (on its first event) or a tool call (on its result). Zero where
// nothing was measured. Microseconds.
struct event_timing {
  std::uint32_t queued = 0; // until it could start
  std::uint32_t first = 0;  // from its start to the first piece of the answer, where it was streamed
  std::uint32_t took = 0;   // from its start to its end

  friend bool operator==(const event_timing&, const event_timing&) = default;
};

// The duration as event_timing counts it, cut at its greatest value (71 minutes); at least 1, so that it counts as measured.
[[nodiscard]] std::uint32_t timing_us(std::chrono::nanoseconds duration) noexcept;

struct event {
  std::uint64_t seq = 0;   // dense per session, from 1; 0 until the supervisor has stamped it
  std::uint32_t index = 0; // counts the events of the agent, from 1
  timestamp time{};
  event_origin_ptr origin;
  event_body body;
  troupe::usage usage; // of the model call whose first event this is
  event_timing timing{};

  [[nodiscard]] event_kind kind() const noexcept { return static_cast<event_kind>(body.index()); }
  [[nodiscard]] std::string id() const;
  [[nodiscard]] const std::string& author() const noexcept { return origin->author; }
  [[nodiscard]] const std::string& branch() const noexcept { return origin->branch; }
  [[nodiscard]] const agent_id& agent() const noexcept { return origin->agent; }
  [[nodiscard]] const session_id& session() const noexcept { return origin->session; }
  [[nodiscard]] const run_id& run() const noexcept { return origin->run; }

  // The body as T, or null when the event is of another kind.
  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return std::get_if<T>(&body);
  }
};

using event_batch = std::vector<event>;
using event_batch_ptr = std::shared_ptr<const event_batch>;

// A streamed piece of a model's answer: shown, never stored, replaced by the final event. `offset` counts
// bytes of the same message and kind.
struct partial {
  agent_id agent;
  std::string message_id;
  bool thought = false;
  std::uint64_t offset = 0;
  std::string text;
};

void to_json(nlohmann::json& j, const event& e);
// Throws nlohmann::json::exception when a required key is missing or of the wrong type.
void from_json(const nlohmann::json& j, event& e);
void to_json(nlohmann::json& j, const partial& p);

// Appends the JSON text of an event, without a tree in between: it parses to what to_json gives. Bytes that are not
// UTF-8 become U+FFFD.
void append_json(std::string& out, const event& e);

// One line for people and logs: "12:00:01.250 analyst.checker  tool_call  read_file {"path":"a.txt"}".
// Control characters are shown as escapes, and long bodies are cut to `width` characters.
[[nodiscard]] std::string to_line(const event& e, std::size_t width = 160);

// The text with control characters (but for tab and newline, when `keep_lines`) written as escapes, so that
// it is inert on a terminal.
[[nodiscard]] std::string escape_controls(std::string_view text, bool keep_lines);

} // namespace troupe
