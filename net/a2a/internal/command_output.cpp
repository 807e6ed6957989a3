// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/command_output.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace troupe::net::a2a {
namespace {

using steady = std::chrono::steady_clock;

error failed(const char* what) {
  return {errc::bad_config, std::string{"the command that gives a secret "} + what};
}

// A child in a process group of its own; killed and reaped at the end.
class child {
 public:
  child(const std::string& command, int output) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    std::string shell = "/bin/sh";
    std::string flag = "-c";
    std::string text = command;
    std::array<char*, 4> arguments = {shell.data(), flag.data(), text.data(), nullptr};
    if (posix_spawn(&pid_, shell.c_str(), &files, &how, arguments.data(), environ) != 0)
      pid_ = -1;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() {
    if (pid_ < 0)
      return;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  [[nodiscard]] bool runs() const { return pid_ >= 0; }
  // Its status once its output has ended.
  [[nodiscard]] std::optional<int> wait_until(steady::time_point end) {
    int status = 0;
    for (;;) {
      const auto got = ::waitpid(pid_, &status, WNOHANG);
      if (got == pid_) {
        pid_ = -1;
        return status;
      }
      if ((got < 0 && errno != EINTR) || steady::now() >= end)
        return std::nullopt;
      ::poll(nullptr, 0, 5);
    }
  }

 private:
  pid_t pid_ = -1;
};

// False at the limits.
bool read_all(int from, steady::time_point end, std::size_t max_bytes, std::string& out) {
  std::array<char, 4096> block{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady::now()).count();
    pollfd wait{from, POLLIN, 0};
    if (left <= 0 || (::poll(&wait, 1, static_cast<int>(left)) < 0 && errno != EINTR))
      return false;
    if (wait.revents == 0)
      continue;
    const auto count = ::read(from, block.data(), block.size());
    if (count == 0)
      return true;
    if (count < 0 && errno != EINTR)
      return false;
    if (count > 0)
      out.append(block.data(), static_cast<std::size_t>(count));
    if (out.size() > max_bytes)
      return false;
  }
}

} // namespace

result<std::string> command_output(const std::string& command, std::chrono::milliseconds limit,
                                   std::size_t max_bytes) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return failed("cannot be started: there are no descriptors left.");
  const auto end = steady::now() + limit;
  child process{command, ends[1]};
  ::close(ends[1]);
  std::string output;
  const bool whole = process.runs() && read_all(ends[0], end, max_bytes, output);
  ::close(ends[0]);
  if (!process.runs())
    return failed("cannot be started.");
  if (!whole)
    return failed("took too long or printed too much.");
  const auto status = process.wait_until(end);
  if (!status)
    return failed("took too long.");
  if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
    return failed("ended with an error.");
  return output;
}

} // namespace troupe::net::a2a
