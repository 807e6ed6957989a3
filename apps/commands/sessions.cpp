// troupe sessions: what is kept, and what to do with it.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "questions.hpp"
#include "run_view.hpp"
#include "setup.hpp"

namespace troupe::cli {
namespace {

constexpr std::size_t page_events = 4096;

struct sessions_arguments {
  setup_options setup;
  view_options view;
  std::string session;
  std::string file;
  bool json = false;
  bool raw = false;
  bool take_over = false;
};

std::shared_ptr<session_store> store_of(const sessions_arguments& arguments) {
  auto prepared = prepare(arguments.setup);
  return prepared.runtime.store;
}

template <class T>
T value_or_throw(result<T> value) {
  if (!value)
    throw config_error{value.failure()};
  return std::move(*value);
}

std::string time_text(timestamp time) {
  const auto seconds =
      std::chrono::system_clock::to_time_t(std::chrono::time_point_cast<std::chrono::seconds>(time));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

std::string state_of(const session_info& info) {
  if (info.open)
    return "open";
  return info.live_agents > 0 ? "unfinished" : "at rest";
}

nlohmann::json info_json(const session_info& info) {
  return {{"session_id", info.session.str()},  {"root", info.root},       {"events", info.last_seq},
          {"time", time_text(info.last_time)}, {"state", state_of(info)}, {"live_agents", info.live_agents}};
}

int list_sessions(const sessions_arguments& arguments) {
  auto all = value_or_throw(store_of(arguments)->sessions());
  std::erase_if(all, [](const session_info& info) { return info.last_seq == 0; }); // opened, and never begun
  if (arguments.json) {
    for (const auto& info : all)
      print_line(stdout, dump_json(info_json(info)));
    return exit_completed;
  }
  if (all.empty())
    print_line(stderr, "troupe: there are no sessions.");
  for (const auto& info : all)
    std::printf("%-24s %-16s %8llu events  %s  %s\n", info.session.str().c_str(), shown(info.root).c_str(),
                static_cast<unsigned long long>(info.last_seq), time_text(info.last_time).c_str(),
                state_of(info).c_str());
  return exit_completed;
}

// Calls `take` for each event; what can be read is taken before the error is thrown.
template <class Take>
void for_events(session_store& store, const session_id& session, Take take) {
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    auto page = store.read(session, after, page_events);
    if (!page)
      throw config_error{page.failure()};
    if (after == 0 && page->batches.empty() && !page->dropped)
      throw config_error{{errc::not_found, "There is no session '" + session.str() + "'."}};
    for (const auto& batch : page->batches)
      for (const auto& e : *batch)
        if (e.seq > after)
          take(e);
    more = page->more && !page->batches.empty();
    after = more ? page->batches.back()->back().seq : page->last_seq;
  }
}

int show_session(const sessions_arguments& arguments) {
  auto store = store_of(arguments);
  const session_id session{arguments.session};
  for_events(*store, session, [&arguments](const event& e) {
    print_line(stdout, arguments.json ? dump_json(shown_json(e)) : shown_line(e));
  });
  const auto open = value_or_throw(open_questions(*store, session));
  for (const auto& question : open) {
    print_line(stderr, question_text(question));
    print_line(stderr, "  " + shown(answer_command(session, question.body, arguments.setup)));
  }
  return exit_completed;
}

int export_session(const sessions_arguments& arguments) {
  auto store = store_of(arguments);
  // An earlier export stays until this one is whole.
  std::ofstream file;
  const auto part = arguments.file + ".part";
  if (!arguments.file.empty()) {
    file.open(part, std::ios::binary | std::ios::trunc);
    if (!file)
      throw config_error{{errc::bad_config, "The file " + part + " cannot be written."}};
  }
  const auto drop = [&part](void*) { std::remove(part.c_str()); };
  std::unique_ptr<void, decltype(drop)> unfinished{file.is_open() ? &file : nullptr, drop};
  for_events(*store, session_id{arguments.session}, [&](const event& e) {
    const auto line = dump_json(arguments.raw ? nlohmann::json(e) : shown_json(e));
    if (file.is_open())
      file << line << '\n';
    else
      print_line(stdout, line);
  });
  if (!file.is_open())
    return exit_completed;
  file.close();
  if (!file || std::rename(part.c_str(), arguments.file.c_str()) != 0)
    throw config_error{
        {errc::store_failed, "The file " + arguments.file + " could not be written to its end."}};
  static_cast<void>(unfinished.release());
  return exit_completed;
}

int delete_session(const sessions_arguments& arguments) {
  if (auto removed = store_of(arguments)->remove(session_id{arguments.session}); !removed)
    throw config_error{removed.failure()};
  print_line(stderr, "troupe: session " + arguments.session + " is deleted.");
  return exit_completed;
}

int resume_session(const sessions_arguments& arguments, interrupt& signals) {
  auto prepared = prepare(arguments.setup);
  auto options = terminal_run_options(prepared);
  options.session = arguments.session;
  options.take_over = arguments.take_over;
  return show_resumed(std::move(prepared), std::move(options), arguments.view, arguments.setup, signals);
}

void add_store_options(CLI::App& command, const std::shared_ptr<sessions_arguments>& arguments) {
  command
      .add_option("-c,--config", arguments->setup.config_file,
                  "Configuration; troupe.yaml in the working folder by default")
      ->each([arguments](const std::string&) { arguments->setup.config_given = true; });
  command.add_option("--store", arguments->setup.store, "memory, sqlite or sqlite:FILE");
}

void add_session(CLI::App& command, const std::shared_ptr<sessions_arguments>& arguments) {
  command.add_option("session", arguments->session, "Name of the session")->required();
}

} // namespace

void add_agent_options(CLI::App& command, const std::shared_ptr<setup_options>& setup) {
  command
      .add_option("-c,--config", setup->config_file,
                  "Configuration; troupe.yaml in the working folder by default")
      ->each([setup](const std::string&) { setup->config_given = true; });
  command.add_option("--agent", setup->agent, "Agent that is the root: its name, or that of an agent file");
  command.add_option("--model", setup->model, "Model of the root agent: an id of the catalogue");
  command.add_option("--workspace", setup->workspace,
                     "Folder of the file tools; the working folder by default");
  command.add_option("--store", setup->store, "Where sessions are kept: memory, sqlite or sqlite:FILE");
  add_tape_options(command, setup);
}

void add_tape_options(CLI::App& command, const std::shared_ptr<setup_options>& setup) {
  auto* record = command.add_option("--record", setup->record,
                                    "Folder that keeps the exchanges with models, without secrets");
  command.add_option("--replay", setup->replay, "Folder of a recording that answers instead of the models")
      ->check(CLI::ExistingDirectory)
      ->excludes(record);
}

void add_telemetry_options(CLI::App& command, const std::shared_ptr<setup_options>& setup) {
  command.add_option("--events-file", setup->events_file,
                     "File that gets each stored event as a line of JSON, with secrets masked");
}

void add_sessions(CLI::App& app, action& chosen, interrupt& signals) {
  auto* group = app.add_subcommand("sessions", "List, show, resume, export and delete sessions");
  group->require_subcommand(1);
  auto add = [&](const char* name, const char* help, auto work) {
    auto arguments = std::make_shared<sessions_arguments>();
    arguments->setup.keeps_sessions = true;
    auto* command = group->add_subcommand(name, help);
    command->callback(
        [&chosen, arguments, work] { chosen = [arguments, work] { return work(*arguments); }; });
    return std::pair{command, arguments};
  };
  auto [list, list_arguments] = add("list", "All sessions", list_sessions);
  add_store_options(*list, list_arguments);
  list->add_flag("--json", list_arguments->json, "A line of JSON each");
  auto [show, show_arguments] = add("show", "The events of a session, and its open questions", show_session);
  add_store_options(*show, show_arguments);
  add_session(*show, show_arguments);
  show->add_flag("--json", show_arguments->json, "A line of JSON each");
  auto [save, save_arguments] = add("export", "The events of a session as lines of JSON", export_session);
  add_store_options(*save, save_arguments);
  add_session(*save, save_arguments);
  save->add_option("-o,--output", save_arguments->file, "File; standard output by default");
  save->add_flag("--raw", save_arguments->raw, "As they are stored, with secrets unmasked");
  auto [erase, erase_arguments] = add("delete", "Forget a session", delete_session);
  add_store_options(*erase, erase_arguments);
  add_session(*erase, erase_arguments);
  auto [resume, resume_arguments] =
      add("resume", "Go on with what was under way when the session's process ended",
          [&signals](const sessions_arguments& a) { return resume_session(a, signals); });
  add_session(*resume, resume_arguments);
  add_agent_options(*resume, std::shared_ptr<setup_options>(resume_arguments, &resume_arguments->setup));
  resume->add_flag("-q,--quiet", resume_arguments->view.quiet, "Print the answer only");
  resume->add_flag("--events", resume_arguments->view.events,
                   "Print each event as one line of JSON on stdout");
  resume->add_flag("--take-over", resume_arguments->take_over,
                   "Take the session from another process that has it open");
}

} // namespace troupe::cli
