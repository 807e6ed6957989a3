// troupe top: the live tree of a server, in the terminal.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/remote.hpp>
#include <troupe/embed/runtime.hpp>
#include <troupe/runtime/file_text.hpp>
#include <troupe/runtime/json_text.hpp>

#include <CLI/App.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "commands/commands.hpp"
#include "exit_code.hpp"
#include "run_view.hpp"
#include "top_screen.hpp"
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace troupe::cli {
namespace {

using nlohmann::json;

constexpr int refresh_ms = 1000;
constexpr std::size_t max_token_file = 4096;
constexpr std::size_t max_input = 4096;

struct top_arguments {
  std::string url = "http://127.0.0.1:8787";
  std::string token_file;
};

enum class key : std::uint8_t { none, up, down, open, back, steer, cancel, answer, quit };

// The terminal without echo and line editing, on its other screen; as it was at the end.
class raw_terminal {
 public:
  raw_terminal() {
    tcgetattr(STDIN_FILENO, &before_);
    auto raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    put("\x1b[?1049h\x1b[?25l");
  }
  ~raw_terminal() {
    put("\x1b[?25h\x1b[?1049l");
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  raw_terminal(const raw_terminal&) = delete;
  raw_terminal& operator=(const raw_terminal&) = delete;

  static void put(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  // What was typed within the time; empty when nothing was.
  static std::string typed(int wait_ms) {
    pollfd in{STDIN_FILENO, POLLIN, 0};
    if (poll(&in, 1, wait_ms) <= 0)
      return {};
    char block[64];
    const auto count = read(STDIN_FILENO, block, sizeof block);
    return count > 0 ? std::string(block, static_cast<std::size_t>(count)) : std::string{"q"};
  }
  static std::pair<std::size_t, std::size_t> size() {
    winsize w{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 20 || w.ws_row < 5)
      return {80, 24};
    return {w.ws_col, w.ws_row};
  }

 private:
  termios before_{};
};

key key_of(std::string_view typed) {
  if (typed == "\x1b[A" || typed == "k")
    return key::up;
  if (typed == "\x1b[B" || typed == "j")
    return key::down;
  if (typed == "\r" || typed == "\n" || typed == "\x1b[C")
    return key::open;
  if (typed == "\x1b[D" || typed == "\x1b" || typed == "\x7f")
    return key::back;
  if (typed == "s")
    return key::steer;
  if (typed == "c")
    return key::cancel;
  if (typed == "a")
    return key::answer;
  return typed == "q" || typed == "\x03" || typed == "\x04" ? key::quit : key::none;
}

// Takes one key off the front: an arrow is three bytes.
key take_key(std::string_view& typed) {
  const auto size = typed.starts_with("\x1b[") ? std::min<std::size_t>(typed.size(), 3) : 1;
  const auto pressed = key_of(typed.substr(0, size));
  typed.remove_prefix(size);
  return pressed;
}

// One line of input; nothing when it is given up with Escape.
std::optional<std::string> ask_line(const std::string& question) {
  std::string line;
  for (;;) {
    const auto [width, height] = raw_terminal::size();
    const auto text = question + line;
    raw_terminal::put("\x1b[" + std::to_string(height) + ";1H" + fit(text, width) + "\x1b[?25h");
    const auto typed = raw_terminal::typed(-1);
    for (std::size_t i = 0; i < typed.size(); ++i) {
      const char c = typed[i];
      if (c == '\x1b' && i + 1 < typed.size() && typed[i + 1] == '[') {
        i += 2; // an arrow: it neither edits nor gives up
        continue;
      }
      if (c == '\r' || c == '\n' || c == '\x1b' || c == '\x03') {
        raw_terminal::put("\x1b[?25l");
        return c == '\r' || c == '\n' ? std::optional{line} : std::nullopt;
      }
      if (c == '\x7f' && !line.empty())
        line.pop_back();
      else if (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f' && line.size() < max_input)
        line += c;
    }
  }
}

class top_view {
 public:
  explicit top_view(remote_server& server) : server_(server) {}

  void refresh() {
    auto got =
        server_.get(state_.session.empty() ? "/v1/snapshot" : "/v1/snapshot?session=" + state_.session);
    if (got) {
      state_.snapshot = in_order(std::move(*got));
      if (std::exchange(lost_, false))
        state_.note.clear();
    } else {
      state_.note = got.failure().message;
      lost_ = true;
    }
    const auto rows = row_count(state_);
    state_.chosen = std::min(state_.chosen, rows == 0 ? 0 : rows - 1);
  }
  void draw() const {
    const auto [width, height] = raw_terminal::size();
    std::string screen = "\x1b[H\x1b[J";
    for (const auto& line : top_lines(state_, width, height))
      screen.append(line).append("\r\n");
    raw_terminal::put(screen.substr(0, screen.size() - 2));
  }
  void act(key k) {
    state_.note.clear();
    switch (k) {
    case key::up:
      state_.chosen -= state_.chosen > 0 ? 1 : 0;
      return;
    case key::down:
      state_.chosen += state_.chosen + 1 < row_count(state_) ? 1 : 0;
      return;
    case key::open:
      return go_to(chosen_session(state_));
    case key::back:
      return go_to({});
    case key::steer:
      return steer();
    case key::cancel:
      return cancel();
    case key::answer:
      return answer();
    default:
      return;
    }
  }
  [[nodiscard]] const top_state& state() const noexcept { return state_; }

 private:
  void go_to(std::string session) {
    state_.session = std::move(session);
    state_.chosen = 0;
    refresh();
  }
  void tell(const std::string& what, const json& body, const char* done) {
    const auto told = server_.post("/v1/sessions/" + chosen_session(state_) + "/" + what, body);
    state_.note = told ? done : told.failure().message;
  }
  void steer() {
    if (!chosen_session(state_).empty())
      if (auto hint = ask_line("Hint: "); hint && !hint->empty())
        tell("steer", {{"text", *hint}}, "The hint is stored.");
  }
  void cancel() {
    const auto session = chosen_session(state_);
    if (session.empty())
      return;
    if (auto sure = ask_line("Cancel what runs in " + session + "? (y, then Enter) "); sure && *sure == "y")
      tell("cancel", json::object(), "It is being cancelled.");
  }
  void answer() {
    const auto question = open_question(state_);
    if (!question.is_object() || !question.contains("question")) {
      state_.note = "There is no open question.";
      return;
    }
    auto line = ask_line("Answer: ");
    if (!line)
      return;
    auto value = parse_json(*line);
    tell("answer", {{"question", question["question"]}, {"value", value ? *value : json(*line)}},
         "The answer is stored.");
  }

  bool lost_ = false; // the server did not answer the last time
  remote_server& server_;
  top_state state_;
};

std::string read_token(const std::string& file) {
  if (file.empty())
    return {};
  auto text = read_file_text(file, max_token_file);
  if (!text)
    throw config_error{{errc::bad_config, "The token file cannot be used: " + text.failure().message}};
  while (text->ends_with('\n') || text->ends_with('\r'))
    text->pop_back();
  return std::move(*text);
}

// No terminal: what there is now, as lines.
int print_once(remote_server& server) {
  auto got = server.get("/v1/snapshot");
  if (!got)
    throw config_error{got.failure()};
  top_state state;
  state.snapshot = std::move(*got);
  constexpr std::size_t width = 120;
  auto lines = top_lines(state, width, row_count(state) + 4);
  lines.pop_back(); // the keys
  for (auto& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    print_line(stdout, line);
  }
  return exit_completed;
}

int top(const top_arguments& arguments) {
  remote_server server{arguments.url, read_token(arguments.token_file)};
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)
    return print_once(server);
  // An address that is wrong is told before the screen is taken.
  if (auto reached = server.get("/v1/snapshot"); !reached)
    throw config_error{reached.failure()};
  raw_terminal screen;
  top_view view{server};
  view.refresh();
  for (;;) {
    view.draw();
    const auto typed = raw_terminal::typed(refresh_ms);
    for (std::string_view rest = typed; !rest.empty();) {
      const auto pressed = take_key(rest);
      if (pressed == key::quit)
        return exit_completed;
      if (pressed != key::none)
        view.act(pressed);
    }
    if (typed.empty())
      view.refresh();
  }
}

} // namespace

void add_top(CLI::App& app, action& chosen) {
  auto arguments = std::make_shared<top_arguments>();
  auto* command = app.add_subcommand("top", "Show what the agents of a server are doing");
  command->add_option("--url", arguments->url, "Address of the server; http://127.0.0.1:8787 by default");
  command->add_option("--token-file", arguments->token_file, "File with the server's token");
  command->footer(
      "In a terminal: arrows choose, enter opens a session, s steers, c cancels, a answers, q quits.\n"
      "Otherwise the sessions are printed once, one a line.");
  command->callback([&chosen, arguments] { chosen = [arguments] { return top(*arguments); }; });
}

} // namespace troupe::cli
