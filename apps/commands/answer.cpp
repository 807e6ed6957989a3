// troupe answer: answers a question that a run left behind, and goes on with the run.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "questions.hpp"
#include "run_view.hpp"
#include "setup.hpp"

namespace troupe::cli {
namespace {

struct answer_arguments {
  setup_options setup;
  view_options view;
  std::string session;
  std::string question;
  std::string value;
  bool take_over = false;
};

// The value to answer with. Fails before anything is started when it is no answer to the question.
nlohmann::json checked_value(session_store& store, const answer_arguments& arguments) {
  auto open = open_questions(store, session_id{arguments.session});
  if (!open)
    throw config_error{open.failure()};
  auto found = std::find_if(open->begin(), open->end(), [&](const open_question& q) {
    return q.body.question.str() == arguments.question;
  });
  if (found == open->end()) {
    std::string list;
    for (const auto& q : *open)
      list += (list.empty() ? " Open questions: " : ", ") + q.body.question.str();
    throw config_error{{errc::not_found, "Session '" + arguments.session + "' has no open question '" +
                                             arguments.question + "'." +
                                             (list.empty() ? std::string{" It has none."} : list + ".")}};
  }
  auto value = parse_json(arguments.value);
  const auto& schema = found->body.schema;
  auto given = value ? *value : typed_answer(arguments.value, schema);
  if (!schema.is_null())
    if (auto compiled = json_schema::compile(schema))
      if (auto fits = compiled->validate(given, errc::bad_arguments, "The answer"); !fits)
        throw config_error{fits.failure()};
  return given;
}

int answer(const answer_arguments& arguments, interrupt& signals) {
  auto prepared = prepare(arguments.setup);
  auto value = checked_value(*prepared.runtime.store, arguments);
  auto options = terminal_run_options(prepared);
  options.session = arguments.session;
  options.take_over = arguments.take_over;
  options.answers.push_back({call_id{arguments.question}, std::move(value)});
  return show_resumed(std::move(prepared), std::move(options), arguments.view, arguments.setup, signals);
}

} // namespace

void add_answer(CLI::App& app, action& chosen, interrupt& signals) {
  auto arguments = std::make_shared<answer_arguments>();
  arguments->setup.keeps_sessions = true;
  auto* command =
      app.add_subcommand("answer", "Answer a question of a run that waits, and go on with the run");
  command->add_option("session", arguments->session, "Name of the session")->required();
  command->add_option("question", arguments->question, "Id of the question")->required();
  command->add_option("value", arguments->value, "The answer: JSON, or a text where a text is asked for")
      ->required();
  add_agent_options(*command, std::shared_ptr<setup_options>(arguments, &arguments->setup));
  command->add_flag("-q,--quiet", arguments->view.quiet, "Print the answer only");
  command->add_flag("--take-over", arguments->take_over,
                    "Take the session from another process that has it open");
  command->footer(
      "Give the same configuration and workspace as the run had; `troupe run` prints the whole command.");
  command->callback([&chosen, &signals, arguments] {
    chosen = [&signals, arguments] { return answer(*arguments, signals); };
  });
}

} // namespace troupe::cli
