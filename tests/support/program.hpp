// Runs a program and takes what it writes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::test {

struct program_result {
  int code = -1; // the exit code; 128 and the signal's number when a signal ended it
  std::string out;
  std::string err;
};

// A program under way; stdout and stderr go to files in `folder`.
class program {
 public:
  program(const std::filesystem::path& folder, std::vector<std::string> arguments,
          const std::string& input = {})
      : out_(folder / "program.out"), err_(folder / "program.err") {
    std::ofstream{folder / "program.in", std::ios::binary} << input;
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (auto& a : arguments)
      argv.push_back(a.data());
    argv.push_back(nullptr);
    const auto in = (folder / "program.in").string();
    child_ = fork();
    if (child_ != 0)
      return;
    auto open_as = [](const std::string& path, int flags, int number) {
      dup2(open(path.c_str(), flags, 0600), number);
    };
    open_as(in, O_RDONLY, STDIN_FILENO);
    open_as(out_.string(), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    open_as(err_.string(), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
    setenv("XDG_STATE_HOME", (folder / "state").c_str(), 1);
    if (chdir(folder.c_str()) != 0)
      _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }

  void signal(int number) const { kill(child_, number); }

  [[nodiscard]] program_result wait() {
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(out_), read(err_)};
  }

 private:
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in{path, std::ios::binary};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t child_ = -1;
};

inline program_result run_program(const std::filesystem::path& folder, std::vector<std::string> arguments,
                                  const std::string& input = {}) {
  program p{folder, std::move(arguments), input};
  return p.wait();
}

} // namespace troupe::test
