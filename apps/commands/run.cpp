// troupe run: one run of a root agent.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/base64.hpp>
#include <troupe/runtime/file_text.hpp>
#include <troupe/runtime/json_text.hpp>

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "log_file.hpp"
#include "run_view.hpp"
#include "setup.hpp"
#include <unistd.h>

namespace troupe::cli {
namespace {

constexpr std::size_t max_prompt_bytes = std::size_t{4} << 20;
constexpr std::size_t max_attachment_bytes = std::size_t{20} << 20;

struct run_arguments {
  setup_options setup;
  std::string session;
  std::vector<std::string> attachments;
  view_options view;
  std::string log_file;
  bool take_over = false;
  std::string prompt;
};

[[noreturn]] void stop(errc code, std::string message) {
  throw config_error{{code, std::move(message)}};
}

std::string read_stdin() {
  if (isatty(STDIN_FILENO) != 0)
    stop(errc::bad_config,
         "There is no prompt. Give it as an argument or on stdin: troupe run \"Survey the workspace\".");
  std::string text;
  std::array<char, 65536> block{};
  while (std::cin.read(block.data(), block.size()) || std::cin.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > max_prompt_bytes)
      stop(errc::too_large, "The prompt is longer than " + std::to_string(max_prompt_bytes) + " bytes.");
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.pop_back();
  return text;
}

std::string mime_type(const std::string& path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> known = {
      {{".png", "image/png"},
       {".jpg", "image/jpeg"},
       {".jpeg", "image/jpeg"},
       {".gif", "image/gif"},
       {".webp", "image/webp"},
       {".pdf", "application/pdf"},
       {".wav", "audio/wav"},
       {".mp3", "audio/mpeg"},
       {".json", "application/json"},
       {".csv", "text/csv"}}};
  const auto extension = std::filesystem::path{path}.extension().string();
  for (const auto& [ending, type] : known)
    if (extension == ending)
      return std::string{type};
  return {};
}

part attach(const std::string& path) {
  auto text = read_file_text(path, max_attachment_bytes);
  if (!text)
    stop(text.failure().code, "The attachment cannot be used: " + text.failure().message);
  const auto& content = *text;
  const auto type = mime_type(path);
  if (type.empty() || type.starts_with("text/") || type == "application/json") {
    if (is_valid_utf8(content))
      return {text_part{"Attached file " + std::filesystem::path{path}.filename().string() + ":\n" + content},
              {}};
    return {data_part{type.empty() ? "application/octet-stream" : type, encode_base64(content), {}}, {}};
  }
  return {data_part{type, encode_base64(content), {}}, {}};
}

int run_agent(const run_arguments& arguments, interrupt& signals) {
  auto prepared = prepare(arguments.setup);
  auto prompt = arguments.prompt.empty() ? read_stdin() : arguments.prompt;
  auto options = terminal_run_options(prepared);
  options.session = arguments.session;
  options.take_over = arguments.take_over;
  for (const auto& path : arguments.attachments)
    options.attachments.push_back(attach(path));
  auto log = make_log(arguments.log_file);
  prepared.runtime.log = log;
  runtime rt{std::move(prepared.runtime)};
  auto root = rt.create_deep_agent(std::move(prepared.root));
  tell_about(root);
  auto cancel = std::make_shared<canceller>();
  signals.on_signal([cancel] { cancel->cancel(); });
  auto r = root.run(std::move(prompt), std::move(options));
  cancel->follow(rt.session(r.session().str()), r);
  auto view = arguments.view;
  view.resumed = !arguments.session.empty();
  const int code = show_run(rt, r, view, arguments.setup);
  signals.on_signal(nullptr);
  return code;
}

} // namespace

void add_run(CLI::App& app, action& chosen, interrupt& signals) {
  auto arguments = std::make_shared<run_arguments>();
  auto& a = *arguments;
  a.setup.keeps_sessions = true;
  auto* command = app.add_subcommand("run", "Run the root agent on a prompt and print its answer");
  command
      ->add_option("-c,--config", a.setup.config_file,
                   "Configuration; troupe.yaml in the working folder by default")
      ->each([arguments](const std::string&) { arguments->setup.config_given = true; });
  command->add_option("--agent", a.setup.agent, "Agent that is the root: its name, or that of an agent file");
  command->add_option("--model", a.setup.model, "Model of the root agent: an id of the catalogue");
  command->add_option("--session", a.session, "Session to go on with, or the name of a new one");
  command->add_option(
      "--store", a.setup.store,
      "Where sessions are kept: memory, sqlite or sqlite:FILE; what the configuration says by default");
  command->add_flag("--take-over", a.take_over, "Take the session from another process that has it open");
  command->add_flag("!--no-wait", a.view.wait,
                    "Suspend background work instead of waiting for it; `troupe sessions resume` goes on");
  command->add_option("--workspace", a.setup.workspace,
                      "Folder of the file tools; the working folder by default");
  command
      ->add_option("--attach", a.attachments, "File that goes with the prompt (may be given several times)")
      ->allow_extra_args(false);
  command->add_flag("--events", a.view.events,
                    "Print each event as one line of JSON on stdout, instead of the answer");
  command->add_option("--output", a.view.output, "Form of the answer")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_flag("-q,--quiet", a.view.quiet, "Print the answer only");
  command->add_option("--log", a.log_file, "File for the log, as lines of JSON");
  const std::shared_ptr<setup_options> shared{arguments, &arguments->setup};
  add_tape_options(*command, shared);
  add_telemetry_options(*command, shared);
  command->add_flag("!--lenient", a.setup.strict, "Unknown keys of the configuration are warnings");
  command->add_option("prompt", a.prompt, "What the agent is to do; read from stdin when it is left out");
  command->footer(
      "Exit codes: 0 completed, 1 failed, 2 usage or configuration, 3 cancelled, 4 needs input (the\n"
      "question is kept, and the command that answers it is printed).\n"
      "Ctrl-C cancels the run and shows what there is; a second one ends at once.");
  command->callback([&chosen, &signals, arguments] {
    chosen = [&signals, arguments] { return run_agent(*arguments, signals); };
  });
}

} // namespace troupe::cli
