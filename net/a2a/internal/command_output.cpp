// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/command_output.hpp>
#include <troupe/net/internal/process_spawn.hpp>
#include <troupe/runtime/internal/descriptor.hpp>

#include <array>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/wait.h>

namespace troupe::net::a2a {
namespace {

using steady = std::chrono::steady_clock;
using troupe::internal::descriptor;

error failed(const char* what) {
  return {errc::bad_config, std::string{"the command that gives a secret "} + what};
}

// False at the end of the time.
bool wait_readable(pollfd* first, nfds_t count, steady::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady::now()).count();
    if (left <= 0)
      return false;
    const int ready = ::poll(first, count, static_cast<int>(left));
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

// What a program prints, until it closes that; its errors are read and dropped, so that it can write them. False at the
// limits.
bool read_all(const descriptor& output, const descriptor& errors, steady::time_point end,
              std::size_t max_bytes, std::string& out) {
  std::array<char, 4096> block{};
  std::array<pollfd, 2> wait = {pollfd{output.get(), POLLIN, 0}, pollfd{errors.get(), POLLIN, 0}};
  while (wait_readable(wait.data(), wait.size(), end)) {
    if (wait[1].revents != 0 && ::read(errors.get(), block.data(), block.size()) <= 0)
      wait[1].fd = -1;
    if (wait[0].revents == 0)
      continue;
    const auto count = ::read(output.get(), block.data(), block.size());
    if (count == 0)
      return true;
    if (count < 0 && errno != EINTR)
      return false;
    if (count > 0)
      out.append(block.data(), static_cast<std::size_t>(count));
    if (out.size() > max_bytes)
      return false;
  }
  return false;
}

} // namespace

result<std::string> command_output(const std::string& command, std::chrono::milliseconds limit,
                                   std::size_t max_bytes) {
  const auto end = steady::now() + limit;
  auto started = spawn_process({.command = {"/bin/sh", "-c", command}});
  if (!started)
    return failed("cannot be started.");
  const descriptor exit{started->pidfd};
  const descriptor output{started->output};
  const descriptor errors{started->errors};
  static_cast<void>(descriptor{started->input}); // nothing to read
  std::string text;
  const bool whole = read_all(output, errors, end, max_bytes, text);
  pollfd ended{exit.get(), POLLIN, 0};
  const bool in_time = whole && wait_readable(&ended, 1, end);
  ::kill(-started->pid, SIGKILL);
  int status = 0;
  while (::waitpid(started->pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    return failed("took too long or printed too much.");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failed("ended with an error.");
  return text;
}

} // namespace troupe::net::a2a
