// Questions of agents, on a terminal and in messages.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/troupe.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cli {

struct open_question {
  question_body body;
  std::string agent; // who asks
};

// What a session's log says is not yet answered, in the order in which it was asked.
[[nodiscard]] result<std::vector<open_question>> open_questions(session_store& store,
                                                                const session_id& session);

// What somebody typed, as the value that the schema asks for: yes and no for a boolean, the text itself for a string,
// otherwise JSON. A text that is no JSON stands for itself, and the schema's check says what is wrong with it.
[[nodiscard]] nlohmann::json typed_answer(std::string_view text, const nlohmann::json& schema);

// How to answer: "yes or no", "one of: red, blue", "a number", …; empty for a text.
[[nodiscard]] std::string answer_hint(const nlohmann::json& schema);

// The question for a terminal.
[[nodiscard]] std::string question_text(const open_question& question);

// A line from the terminal; nothing at its end, or when `over` says that nobody waits for it any more.
[[nodiscard]] std::optional<std::string> read_line(const std::function<bool()>& over);

enum class asked : std::uint8_t {
  answered,
  closed,   // somebody else has answered it, or nobody waits any more
  no_input, // standard input has ended
  failed,   // the answer was not taken; it may be asked again
};

// Puts a question to the terminal until its answer is taken.
[[nodiscard]] asked ask_on_terminal(session& to, const open_question& question,
                                    const std::function<bool()>& over);

// Finds questions of a session as they come, of whatever agent and run. One owner.
class question_watch {
 public:
  // `before`: the log may hold questions of an earlier process.
  question_watch(runtime& rt, session_id session, bool before);

  // Open questions that were not given before. The log is read only when something was asked since the last look.
  [[nodiscard]] std::vector<open_question> fresh();
  // A question may be open: one was asked since the start, or before it.
  [[nodiscard]] bool asked() const noexcept { return asked_ > 0 || !given_.empty(); }
  // Gives the question again.
  void forget(const call_id& question) {
    given_.erase(question);
    again_ = true;
  }

 private:
  runtime& rt_;
  const session_id session_;
  bool again_;
  std::uint64_t asked_ = 0; // questions so far, in this process
  std::set<call_id> given_;
};

} // namespace troupe::cli
