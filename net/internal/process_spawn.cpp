// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/process_spawn.hpp>
#include <troupe/runtime/internal/descriptor.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::net {
namespace {

using troupe::internal::descriptor;

struct ends {
  descriptor ours;
  descriptor theirs;
};

bool make_pipe(ends& out) {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0)
    return false;
  out = {descriptor{fds[0]}, descriptor{fds[1]}};
  return true;
}

bool make_socket(ends& out) {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0)
    return false;
  out = {descriptor{fds[0]}, descriptor{fds[1]}};
  return true;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const auto& text : texts)
    out.push_back(const_cast<char*>(text.c_str())); // posix_spawn does not write to them
  out.push_back(nullptr);
  return out;
}

error failed(const process_spec& spec, int why) {
  const auto& program = spec.command.front();
  const auto reason = std::string{std::strerror(why)};
  if (why == ENOENT && !spec.folder.empty() && ::access(spec.folder.c_str(), X_OK) != 0)
    return {errc::not_found,
            "The folder " + spec.folder.string() + " for '" + program + "' cannot be used: " + reason + "."};
  return {why == ENOENT || why == EACCES ? errc::not_found : errc::internal,
          "The program '" + program + "' cannot be started: " + reason + "."};
}

// What the new process does before the program begins.
class start_actions {
 public:
  start_actions() {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawnattr_init(&attributes_);
  }
  start_actions(const start_actions&) = delete;
  start_actions& operator=(const start_actions&) = delete;
  ~start_actions() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void use(int input, int output, int errors, const std::filesystem::path& folder) {
    ::posix_spawn_file_actions_adddup2(&files_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, errors, STDERR_FILENO);
    if (!folder.empty())
      ::posix_spawn_file_actions_addchdir_np(&files_, folder.c_str());
    // Libraries open descriptors that would be inherited: sockets, files.
    ::posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }

  int spawn(int& pid, const process_spec& spec) const {
    auto arguments = pointers(spec.command);
    auto environment = spec.environment ? pointers(*spec.environment) : std::vector<char*>{};
    return ::posix_spawnp(&pid, spec.command.front().c_str(), &files_, &attributes_, arguments.data(),
                          spec.environment ? environment.data() : ::environ);
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

} // namespace

result<spawned_process> spawn_process(const process_spec& spec) {
  if (spec.command.empty() || spec.command.front().empty())
    return error{errc::bad_config, "A program to start has no name."};
  ends input;
  ends output;
  ends errors;
  if (!make_socket(input) || !make_pipe(output) || !make_pipe(errors))
    return failed(spec, errno);
  start_actions actions;
  actions.use(input.theirs.get(), output.theirs.get(), errors.theirs.get(), spec.folder);
  spawned_process process;
  if (const int why = actions.spawn(process.pid, spec); why != 0)
    return failed(spec, why);
  // glibc 2.36 declares pidfd_open without C linkage.
  process.pidfd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
  // Where SIGCHLD is ignored a short program may be gone already: something that is readable stands for its end.
  if (process.pidfd < 0 && errno == ESRCH)
    process.pidfd = ::eventfd(1, EFD_CLOEXEC);
  if (process.pidfd < 0) {
    const int why = errno;
    ::kill(-process.pid, SIGKILL);
    ::waitpid(process.pid, nullptr, 0);
    return failed(spec, why);
  }
  process.input = input.ours.release();
  process.output = output.ours.release();
  process.errors = errors.ours.release();
  return process;
}

} // namespace troupe::net
