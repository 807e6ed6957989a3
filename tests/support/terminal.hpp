// A program before a terminal: what a person types, and what they see.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::test {

class terminal {
 public:
  terminal(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (auto& a : arguments)
      argv.push_back(a.data());
    argv.push_back(nullptr);
    winsize size{24, 100, 0, 0};
    child_ = forkpty(&screen_, nullptr, nullptr, &size);
    if (child_ != 0)
      return;
    setenv("XDG_STATE_HOME", (folder / "state").c_str(), 1);
    if (chdir(folder.c_str()) != 0)
      _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  ~terminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(screen_);
  }

  void type(const std::string& line) const {
    const auto text = line + "\n";
    [[maybe_unused]] const auto written = write(screen_, text.data(), text.size());
  }

  // Waits until the screen has shown `text` since the last call that found its own; false when it does not come.
  bool shows(const std::string& text) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    for (;;) {
      if (const auto at = seen_.find(text, taken_); at != std::string::npos) {
        taken_ = at + text.size();
        return true;
      }
      if (std::chrono::steady_clock::now() > until || !read_more())
        return seen_.find(text, taken_) != std::string::npos;
    }
  }

  // The exit code, once the program has ended.
  int wait() {
    while (read_more()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  [[nodiscard]] const std::string& seen() const noexcept { return seen_; }

 private:
  // False when the program has closed its terminal.
  bool read_more() {
    pollfd input{screen_, POLLIN, 0};
    if (poll(&input, 1, 1000) == 0)
      return true;
    char block[4096];
    const auto got = read(screen_, block, sizeof block);
    if (got <= 0)
      return false;
    seen_.append(block, static_cast<std::size_t>(got));
    return true;
  }

  pid_t child_ = -1;
  int screen_ = -1;
  std::string seen_;
  std::size_t taken_ = 0;
};

} // namespace troupe::test
