// troupe chat: a conversation with the root agent. Lines typed while it works steer it.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/surface.hpp>

#include <CLI/App.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "live_tree.hpp"
#include "log_file.hpp"
#include "questions.hpp"
#include "run_view.hpp"
#include "setup.hpp"
#include <unistd.h>

namespace troupe::cli {
namespace {

constexpr const char* help_text = R"(Type a message and Enter. While the agent works, a line is a hint to it.
  /agents                  the agents that work
  /tasks                   background work
  /answer QUESTION VALUE   answers a question (QUESTION may be left out when one is open)
  /cancel [TASK]           ends the run, or one background task
  /quit                    leaves; what runs is suspended and can be resumed
  /help                    this)";

struct chat_arguments {
  setup_options setup;
  std::string session;
  std::string log_file;
  bool take_over = false;
};

// What came from the agents since the last look, from the dispatcher's thread.
class inbox {
 public:
  void take(const event& e) {
    switch (e.kind()) {
    case event_kind::agent_started:
    case event_kind::agent_ended:
      if (e.origin->number == 0)
        return;
      break;
    case event_kind::warning:
    case event_kind::error:
    case event_kind::background_result:
      break;
    default:
      return;
    }
    std::lock_guard lock{mutex_};
    lines_.push_back(shown_line(e));
  }
  void follow(run next) {
    std::lock_guard lock{mutex_};
    woken_.push_back(std::move(next));
  }
  std::deque<std::string> lines() {
    std::lock_guard lock{mutex_};
    return std::exchange(lines_, {});
  }
  std::optional<run> woken() {
    std::lock_guard lock{mutex_};
    if (woken_.empty())
      return std::nullopt;
    auto next = std::move(woken_.front());
    woken_.pop_front();
    return next;
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> lines_;
  std::deque<run> woken_;
};

class conversation {
 public:
  // `known`: the session may hold questions of an earlier process.
  conversation(runtime& rt, const agent& root, session s, run_options options, setup_options setup,
               bool known)
      : rt_(rt), root_(root), session_(std::move(s)), options_(std::move(options)), setup_(std::move(setup)),
        watch_(rt, session_.id(), known) {
    session_.on_run([box = inbox_](run next) { box->follow(std::move(next)); });
  }

  // Makes the next Ctrl-C the first one again; called when a run has ended.
  void on_rest(std::function<void()> rearm) { rearm_ = std::move(rearm); }

  // Takes up what an earlier process left unfinished.
  void resume() { follow(root_.resume(options_)); }

  int talk() {
    prompt();
    for (;;) {
      auto line = read_line([this] { return show_news(); });
      show_news();
      if (leaving_ || (!line && at_end()))
        return leave();
      if (line && !take(*line))
        return leave();
    }
  }

  // On the thread of signals.
  void interrupt() {
    if (running_)
      session_.cancel("user");
    else
      leaving_ = true;
  }

 private:
  void prompt() const {
    if (isatty(STDIN_FILENO) != 0 && !busy())
      std::fprintf(stderr, "> ");
  }

  [[nodiscard]] bool busy() const { return run_ && !run_->wait_for(std::chrono::milliseconds{0}); }

  // Prints what is new; true when the reader is to stop waiting.
  bool show_news() {
    for (const auto& line : inbox_->lines())
      print_line(stderr, "  " + line);
    for (const auto& question : watch_.fresh())
      print_line(stderr,
                 "  " + question_text(question) + "  [/answer " + question.body.question.str() + " …]");
    if (run_ && !busy()) {
      const auto o = run_->outcome();
      for (const auto& line : inbox_->lines())
        print_line(stderr, "  " + line);
      if (!o.text().empty())
        print_line(stdout, shown(o.text()));
      if (o.failed())
        print_line(stderr, "failed: " + std::string{to_string(o.code())} + ": " + shown(o.detail()));
      if (o.cancelled())
        print_line(stderr, "cancelled by " + shown(o.by()));
      run_.reset();
      running_ = false;
      rearm_();
      prompt();
    }
    if (!run_)
      if (auto next = inbox_->woken())
        follow(std::move(*next));
    return leaving_;
  }

  [[nodiscard]] std::vector<open_question> open() const {
    return open_questions(*rt_.engine().store(), session_.id()).value_or({});
  }

  // Standard input has ended: what runs may end first, unless it waits for an answer.
  bool at_end() {
    auto quiet = std::make_shared<std::atomic<bool>>(false);
    rt_.engine().when_quiet(session_.id(), [quiet] { quiet->store(true); });
    while (!leaving_ && (run_ || !quiet->load())) {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      show_news();
      if (watch_.asked() && !open().empty())
        break;
    }
    show_news();
    return true;
  }

  int leave() {
    session_.suspend();
    const auto left = open();
    for (const auto& question : left)
      print_line(stderr,
                 "troupe: answer with: " + shown(answer_command(session_.id(), question.body, setup_)));
    print_line(stderr, "troupe: go on with: troupe chat --session " + session_.id().str());
    return left.empty() ? exit_completed : exit_needs_input;
  }

  void follow(run next) {
    next.on_event([box = inbox_](const event& e) { box->take(e); });
    run_ = std::move(next);
    running_ = true;
  }

  // False: leave.
  bool take(const std::string& line) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      prompt();
      return true;
    }
    if (line.front() == '/')
      return command(line);
    if (busy()) {
      report(session_.steer(line));
      return true;
    }
    follow(root_.run(line, options_));
    return true;
  }

  bool command(const std::string& line) {
    const auto space = line.find(' ');
    const auto word = line.substr(0, space);
    const auto rest = space == std::string::npos ? std::string{} : line.substr(space + 1);
    if (word == "/quit")
      return false;
    if (word == "/cancel")
      cancel(rest);
    else if (word == "/agents")
      show_agents();
    else if (word == "/tasks")
      show_tasks();
    else if (word == "/answer")
      answer(rest);
    else if (word == "/help")
      print_line(stderr, help_text);
    else
      print_line(stderr, "There is no command " + shown(word) + "; /help lists them.");
    prompt();
    return true;
  }

  static void report(const status& s) {
    if (!s)
      print_line(stderr, shown(s.failure().message));
  }

  void cancel(const std::string& task) {
    if (!task.empty())
      return report(session_.cancel_background(task));
    if (run_)
      run_->cancel("user");
    else
      print_line(stderr, "Nothing runs. /cancel TASK ends a background task; /tasks lists them.");
  }

  void show_agents() {
    auto snapshot = rt_.engine().snapshot(session_.id());
    if (!snapshot || snapshot->sessions.empty())
      return print_line(stderr, "No agents.");
    const auto now =
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    for (const auto& line : draw_tree(snapshot->sessions.front(), now, {120, 1000}, false))
      print_line(stderr, line);
  }

  void show_tasks() {
    auto tasks = session_.background();
    if (!tasks)
      return report(tasks.failure());
    if (tasks->empty())
      print_line(stderr, "No background work.");
    for (const auto& t : *tasks)
      print_line(stderr, t.task.str() + "  " + shown(t.name) + "  " + std::string{to_string(t.status)});
  }

  void answer(const std::string& text) {
    const auto open = this->open();
    if (open.empty())
      return print_line(stderr, "No question is open.");
    const auto space = text.find(' ');
    const auto first = text.substr(0, space);
    auto found = std::find_if(open.begin(), open.end(),
                              [&first](const open_question& q) { return q.body.question.str() == first; });
    auto value = found == open.end()          ? text
                 : space == std::string::npos ? std::string{}
                                              : text.substr(space + 1);
    if (found == open.end() && open.size() > 1)
      return print_line(stderr, "Several questions are open: /answer QUESTION VALUE.");
    if (found == open.end())
      found = open.begin();
    report(session_.answer(found->body.question.str(), typed_answer(value, found->body.schema)));
  }

  runtime& rt_;
  const agent& root_;
  session session_;
  run_options options_;
  setup_options setup_;
  question_watch watch_;
  std::shared_ptr<inbox> inbox_ = std::make_shared<inbox>();
  std::optional<run> run_;
  std::function<void()> rearm_ = [] {};
  std::atomic<bool> running_{false};
  std::atomic<bool> leaving_{false};
};

int chat(const chat_arguments& arguments, interrupt& signals) {
  auto prepared = prepare(arguments.setup);
  prepared.runtime.log = make_log(arguments.log_file);
  auto options = terminal_run_options(prepared);
  const bool known = !arguments.session.empty();
  options.session = known ? arguments.session : make_session_id().str();
  options.take_over = arguments.take_over;
  options.answerable = true;
  options.suspend_on_question = false;
  runtime rt{std::move(prepared.runtime)};
  auto root = rt.create_deep_agent(std::move(prepared.root));
  for (const auto& warning : root.warnings())
    print_line(stderr, "troupe: warning: " + warning);
  const auto session = rt.session(options.session);
  auto talk = std::make_shared<conversation>(rt, root, session, options, arguments.setup, known);
  const std::function<void()> arm = [&signals, talk = std::weak_ptr<conversation>{talk}] {
    signals.on_signal([talk] {
      if (auto alive = talk.lock())
        alive->interrupt();
    });
  };
  talk->on_rest(arm);
  arm();
  print_line(stderr, "troupe: session " + options.session + "; /help lists the commands");
  auto page = rt.engine().store()->read(session.id(), 0, 1);
  if (known && page && !page->batches.empty())
    talk->resume();
  const int code = talk->talk();
  signals.on_signal(nullptr);
  return code;
}

} // namespace

void add_chat(CLI::App& app, action& chosen, interrupt& signals) {
  auto arguments = std::make_shared<chat_arguments>();
  arguments->setup.keeps_sessions = true;
  auto* command = app.add_subcommand("chat", "Talk with the root agent");
  command->add_option("--session", arguments->session, "Session to go on with, or the name of a new one");
  const std::shared_ptr<setup_options> setup{arguments, &arguments->setup};
  add_agent_options(*command, setup);
  add_telemetry_options(*command, setup);
  command->add_option("--log", arguments->log_file, "File for the log, as lines of JSON");
  command->add_flag("--take-over", arguments->take_over,
                    "Take the session from another process that has it open");
  command->footer(std::string{help_text} +
                  "\nCtrl-C ends the run that is under way, or leaves when none is.");
  command->callback([&chosen, &signals, arguments] {
    chosen = [&signals, arguments] { return chat(*arguments, signals); };
  });
}

} // namespace troupe::cli
