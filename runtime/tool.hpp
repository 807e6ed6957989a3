// What a tool is: a declaration for the model and a C++ function.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>
#include <troupe/messages/error.hpp>
#include <troupe/messages/ids.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

class json_schema;

// What the runtime may assume of a tool. A tool that is neither read-only nor idempotent runs at most once.
struct tool_annotations {
  bool read_only = false;
  bool idempotent = false;
  bool destructive = false;
  bool runs_inline = false; // short and never blocks: runs in the agent's handler ("inline" in the design)
  bool exclusive = false;   // alone within its turn
  // One call of the group at a time in the runtime; empty means no group. A call that only waits (`start`) and is given up
  // at its deadline leaves the group.
  std::string exclusive_group{};
  std::chrono::milliseconds timeout{120'000};
};

// What a call has to ask the user before it can go on.
struct tool_question {
  std::string message;
  nlohmann::json schema; // JSON Schema of the answer
};

// What became of a tool_question: the answer, or nothing when nobody can answer, did in time, or wanted to.
struct tool_answer {
  std::optional<nlohmann::json> value;
};

// What a call gives back. `state` are writes to the session's or agent's state, made with the result. With a
// `question` it is no result yet: the user is asked, and the tool called again with tool_context::answer. When that has
// no value the tool ends, and does not ask again.
struct tool_result {
  std::string text{};
  std::optional<errc> failed{}; // set when the call failed; `text` then says why
  std::vector<std::pair<std::string, nlohmann::json>> state{};
  std::vector<data_part> data{}; // images and other bytes, shown to the model after the results of the turn
  std::optional<tool_question> question{};
  bool ends_agent =
      false; // a failure that the agent shall not go on after; with max_turns it may say its last word

  static tool_result failure(errc code, std::string why) { return {std::move(why), code, {}, {}, {}, false}; }
  static tool_result ask(std::string message, nlohmann::json schema) {
    return {{}, {}, {}, {}, tool_question{std::move(message), std::move(schema)}, false};
  }
};

// Notes that tools keep for one agent instance, such as what it last read of a file. Thread-safe.
class agent_notes {
 public:
  [[nodiscard]] std::optional<std::string> get(const std::string& key) const;
  void set(const std::string& key, std::string value);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> notes_;
};

// What a call may ask of the runtime while it runs.
struct tool_context {
  session_id session;
  agent_id agent;
  std::string agent_name;
  call_id call;
  std::stop_token stop; // asked to stop: the run was cancelled or the deadline is over
  std::chrono::steady_clock::time_point deadline{}; // after it the call is answered with `timeout`
  std::shared_ptr<agent_notes> notes;               // never null
  // The agent's state keys when the call began, `user:` and `app:` keys among them; null when there are none.
  std::shared_ptr<const std::map<std::string, nlohmann::json>> state;
  std::string traceparent{}; // of the call's span (W3C Trace Context), for what it sends on; empty: no traces
  std::uint32_t hops =
      0; // how many agents of other programs stand above the run; what is sent on says one more
  std::optional<tool_answer> answer{};                 // to the question that this call asked before
  std::function<void(std::string_view text)> progress; // shows what the tool does; empty in this version
};

struct tool_definition {
  std::string name;
  std::string description;
  nlohmann::json parameters; // JSON Schema of an object; arguments are checked before the call
  tool_annotations annotations;
  // Runs a call. `arguments` fit `parameters`. May throw: an exception is a failed result with its text.
  std::function<tool_result(const nlohmann::json& arguments, tool_context& context)> run;
  // Instead of `run`, for a tool that waits rather than works: begins the call and returns without blocking. `done` is
  // called once, on any thread, also before this returns; what comes after the first is ignored. When the call is not
  // wanted any more its context's `stop` is asked to stop, and nobody waits for `done`. May throw, then `done` is not
  // called. Not for runs_inline.
  std::function<void(std::shared_ptr<const nlohmann::json> arguments, std::shared_ptr<tool_context> context,
                     std::function<void(tool_result)> done)>
      start{};
  std::shared_ptr<const json_schema> compiled{}; // `parameters`, where somebody has compiled them; or null
};
using tool_ptr = std::shared_ptr<const tool_definition>;

// A tool in code, or the name (or wildcard) of one that the runtime knows.
class tool_ref {
 public:
  tool_ref(tool_ptr tool) : tool_(std::move(tool)) {}
  tool_ref(std::string name) : name_(std::move(name)) {}
  tool_ref(const char* name) : name_(name) {}

  [[nodiscard]] const tool_ptr& tool() const noexcept { return tool_; } // null when it is a name
  [[nodiscard]] const std::string& name() const noexcept { return tool_ ? tool_->name : name_; }

 private:
  tool_ptr tool_;
  std::string name_;
};

} // namespace troupe
