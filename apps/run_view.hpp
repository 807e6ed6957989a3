// A run on the terminal: its tree or its lines while it works, its questions, and then its answer.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/troupe.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "interrupt.hpp"
#include "setup.hpp"

namespace troupe::cli {

struct view_options {
  bool events = false; // each event as a line of JSON, instead of the answer
  bool quiet = false;  // the answer only
  std::string output = "text";
  bool resumed = false; // the session's log may hold questions of an earlier process
  bool wait = true;     // for background work, and for the runs that it sets in motion
};

void print_line(std::FILE* to, const std::string& line);

// True when somebody sits before the terminal: questions are asked there.
[[nodiscard]] bool is_interactive();

// How the program is to be called to go on with a session, for messages: "troupe answer s-1 c0-0-0 'true' -c f.yaml".
[[nodiscard]] std::string answer_command(const session_id& session, const question_body& question,
                                         const setup_options& setup);

// Cancels a run that may not have begun yet.
class canceller {
 public:
  void follow(const session& s, const run& r);
  void cancel();

 private:
  std::mutex mutex_;
  std::optional<session> session_;
  bool wanted_ = false;
};

// The setup, with its warnings told. Throws config_error.
[[nodiscard]] setup prepare(const setup_options& options);

// Tells what could be better in the root's declaration, and which agents are left out.
void tell_about(const agent& root);

// Options of a run that this terminal can serve.
[[nodiscard]] run_options terminal_run_options(const setup& prepared);

// Follows a run to its end, prints its answer, then waits for background work as the options say. Gives the exit code.
int show_run(runtime& rt, run r, const view_options& options, const setup_options& setup);

// Goes on with what was under way in options.session and shows it likewise; Ctrl-C cancels it.
int show_resumed(setup prepared, run_options options, view_options view, const setup_options& setup,
                 interrupt& signals);

} // namespace troupe::cli
