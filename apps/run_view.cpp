// SPDX-License-Identifier: Apache-2.0
#include "run_view.hpp"

#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdio>
#include <deque>
#include <thread>

#include "exit_code.hpp"
#include "live_tree.hpp"
#include "questions.hpp"
#include <unistd.h>

namespace troupe::cli {
namespace {

constexpr std::chrono::milliseconds redraw{100};
constexpr std::chrono::milliseconds poll_interval{20};

// Plain lines for logs and pipes: who begins, who ends, what goes wrong.
bool worth_a_line(const event& e) {
  switch (e.kind()) {
  case event_kind::agent_started:
  case event_kind::agent_ended:
  case event_kind::warning:
  case event_kind::error:
  case event_kind::question:
    return true;
  default:
    return false;
  }
}

void show_event(const event& e, const view_options& options) {
  if (options.events)
    print_line(stdout, dump_json(shown_json(e)));
  else if (!options.quiet && worth_a_line(e))
    print_line(stderr, shown_line(e));
}

void tell_missed(const run& r) {
  if (r.missed() > 0)
    print_line(stderr,
               "troupe: " + std::to_string(r.missed()) + " events were no longer kept and are not shown.");
}

// Puts what was asked to the person before the terminal. Where their input has ended the session is suspended, so that
// the questions can be answered later.
void ask_all(question_watch& watch, session& s, live_tree& tree, const std::function<bool()>& over) {
  for (const auto& question : watch.fresh()) {
    tree.clear();
    switch (ask_on_terminal(s, question, over)) {
    case asked::no_input:
      s.suspend();
      return;
    case asked::failed:
      watch.forget(question.body.question);
      break;
    default:
      break;
    }
  }
}

// Draws the tree, or prints lines, until the run has ended, and asks what is to be asked.
void follow_on_terminal(runtime& rt, run& r, session& s, question_watch& watch, const view_options& options) {
  const bool plain = options.events || options.quiet;
  if (plain)
    r.on_event([options](const event& e) { show_event(e, options); });
  auto over = [&r] { return r.wait_for(std::chrono::milliseconds{0}); };
  live_tree tree;
  while (!r.wait_for(redraw)) {
    ask_all(watch, s, tree, over);
    auto snapshot = plain ? activity_snapshot{} : rt.engine().snapshot(r.session()).value_or({});
    if (!snapshot.sessions.empty() && !over())
      tree.show(snapshot.sessions.front());
  }
}

void follow_plainly(const run& r, const view_options& options) {
  for (const auto& e : r)
    show_event(e, options);
  tell_missed(r);
}

std::string summary(runtime& rt, const run& r, const outcome& o) {
  auto snapshot = rt.engine().snapshot(r.session());
  std::string text = "troupe: " + std::string{to_string(o.status())};
  if (snapshot && !snapshot->sessions.empty()) {
    const auto& t = snapshot->sessions.front().row.totals;
    text += ", " + std::to_string(t.started) + " agents, " + std::to_string(t.count(event_kind::tool_call)) +
            " tool calls, " + std::to_string(t.usage.total()) + " tokens";
    if (t.usage.cost_nano_usd > 0)
      text += fmt::format(", ${:.4f}", static_cast<double>(t.usage.cost_nano_usd) / 1e9);
  }
  return text + ", session " + r.session().str();
}

void print_outcome(const run& r, const outcome& o, const view_options& options) {
  if (options.output == "json") {
    nlohmann::json j = o;
    j["text"] = shown(o.text());
    if (j.contains("detail"))
      j["detail"] = shown(o.detail());
    j["session"] = r.session().str();
    j["run"] = r.id().str();
    return print_line(stdout, dump_json(j));
  }
  if (o.cancelled() && !o.text().empty())
    print_line(stderr, "troupe: cancelled; what there is so far:");
  if (o.failed() && !o.text().empty())
    print_line(stderr,
               std::string{"troupe: what there is "} + (o.recovered() ? "after the limit:" : "so far:"));
  if (!o.text().empty())
    print_line(stdout, shown(o.text()));
  if (o.failed() && o.code() != errc::needs_input)
    print_line(stderr, "troupe: failed: " + std::string{to_string(o.code())} + ": " + shown(o.detail()));
}

void print_questions(runtime& rt, const session_id& id, const setup_options& setup,
                     const std::string& why = "Background work waits for an answer.") {
  print_line(stderr, "troupe: " + shown(why));
  auto open = open_questions(*rt.engine().store(), id);
  if (!open)
    return print_line(stderr, "troupe: the questions cannot be read: " + shown(open.failure().message));
  print_line(stderr, "troupe: what was under way is kept; open questions:");
  for (const auto& question : *open) {
    print_line(stderr, "  " + question_text(question));
    print_line(stderr, "    " + shown(answer_command(id, question.body, setup)));
  }
}

// Reads the log only when a question may be in it.
bool has_open_questions(runtime& rt, const session_id& id, bool before) {
  auto snapshot = rt.engine().snapshot(id);
  const bool asked_here = snapshot && !snapshot->sessions.empty() &&
                          snapshot->sessions.front().row.totals.count(event_kind::question) > 0;
  if (!before && !asked_here)
    return false;
  auto open = open_questions(*rt.engine().store(), id);
  return open && !open->empty();
}

int show_one(runtime& rt, run& r, session& s, question_watch& watch, const view_options& options,
             const setup_options& setup) {
  if (is_interactive())
    follow_on_terminal(rt, r, s, watch, options);
  else
    follow_plainly(r, options);
  const auto o = r.outcome();
  if (!options.events)
    print_outcome(r, o, options);
  if (!o.completed() && o.failed() && o.code() == errc::needs_input)
    print_questions(rt, r.session(), setup, o.detail());
  else if (!options.quiet)
    print_line(stderr, summary(rt, r, o));
  return to_exit_code(o);
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return out + "'";
}

std::string example_value(const nlohmann::json& schema) {
  if (schema.is_object()) {
    if (auto words = schema.find("enum"); words != schema.end() && words->is_array() && !words->empty())
      return dump_json(words->front());
    const auto type = schema.value("type", nlohmann::json{});
    if (type == "boolean")
      return "true";
    if (type == "number" || type == "integer")
      return "1";
    if (type == "object")
      return "{…}";
    if (type == "array")
      return "[…]";
  }
  return "\"…\"";
}

} // namespace

void print_line(std::FILE* to, const std::string& line) {
  std::fprintf(to, "%s\n", line.c_str());
  std::fflush(to);
}

bool is_interactive() {
  return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
}

std::string answer_command(const session_id& session, const question_body& question,
                           const setup_options& setup) {
  auto text = "troupe answer " + session.str() + " " + question.question.str() + " " +
              quoted(example_value(question.schema));
  auto option = [&text](const char* name, const std::string& value) {
    if (!value.empty())
      text += std::string{" "} + name + " " + quoted(value);
  };
  option("-c", setup.config_file);
  option("--agent", setup.agent);
  option("--model", setup.model);
  option("--workspace", setup.workspace);
  option("--store", setup.store);
  return text;
}

void canceller::follow(const session& s, const run&) {
  std::lock_guard lock{mutex_};
  session_ = s;
  if (wanted_)
    session_->cancel("user");
}

void canceller::cancel() {
  std::lock_guard lock{mutex_};
  wanted_ = true;
  if (session_)
    session_->cancel("user");
}

setup prepare(const setup_options& options) {
  auto prepared = make_setup(options);
  if (!prepared)
    throw config_error{prepared.failure()};
  for (const auto& warning : prepared->warnings)
    print_line(stderr, "troupe: warning: " + warning);
  return std::move(*prepared);
}

void tell_about(const agent& root) {
  for (const auto& warning : root.warnings())
    print_line(stderr, "troupe: warning: " + warning);
  for (const auto& skipped : root.skipped())
    print_line(stderr, "troupe: left out: " + skipped);
}

run_options terminal_run_options(const setup& prepared) {
  run_options options;
  options.busy = prepared.busy;
  options.background = prepared.background;
  options.question_timeout = prepared.question_timeout;
  options.answerable = is_interactive() || prepared.durable;
  options.suspend_on_question = !is_interactive();
  return options;
}

int show_run(runtime& rt, run r, const view_options& options, const setup_options& setup) {
  auto s = rt.session(r.session().str());
  question_watch watch{rt, s.id(), options.resumed};
  // Runs that background results set in motion come one after the other.
  auto woken = std::make_shared<std::deque<run>>();
  auto mutex = std::make_shared<std::mutex>();
  s.on_run([woken, mutex](run next) {
    std::lock_guard lock{*mutex};
    woken->push_back(std::move(next));
  });
  auto next_woken = [woken, mutex]() -> std::optional<run> {
    std::lock_guard lock{*mutex};
    if (woken->empty())
      return std::nullopt;
    auto next = std::move(woken->front());
    woken->pop_front();
    return next;
  };
  int code = show_one(rt, r, s, watch, options, setup);
  if (code == exit_needs_input)
    return code;
  if (!options.wait) {
    s.suspend();
    return code;
  }
  live_tree no_tree;
  std::shared_ptr<std::atomic<bool>> quiet;
  for (;;) {
    if (quiet == nullptr) {
      quiet = std::make_shared<std::atomic<bool>>(false);
      rt.engine().when_quiet(s.id(), [quiet] { quiet->store(true); });
    }
    std::this_thread::sleep_for(poll_interval);
    const bool done = quiet->load();
    if (auto next = next_woken()) {
      code = std::max(code, show_one(rt, *next, s, watch, options, setup));
      quiet.reset();
      continue;
    }
    if (is_interactive() && !done)
      ask_all(watch, s, no_tree, [&quiet] { return quiet->load(); });
    if (!done)
      continue;
    // Background work may have been suspended with its questions.
    const bool left = has_open_questions(rt, s.id(), options.resumed);
    if (left)
      print_questions(rt, s.id(), setup);
    return left ? exit_needs_input : code;
  }
}

int show_resumed(setup prepared, run_options options, view_options view, const setup_options& setup,
                 interrupt& signals) {
  const auto session = options.session;
  runtime rt{std::move(prepared.runtime)};
  auto root = rt.create_deep_agent(std::move(prepared.root));
  auto cancel = std::make_shared<canceller>();
  signals.on_signal([cancel] { cancel->cancel(); });
  auto r = root.resume(std::move(options));
  cancel->follow(rt.session(session), r);
  view.resumed = true;
  const int code = show_run(rt, r, view, setup);
  signals.on_signal(nullptr);
  return code;
}

} // namespace troupe::cli
