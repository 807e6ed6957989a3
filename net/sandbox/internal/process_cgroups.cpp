// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/sandbox/internal/process_cgroups.hpp>
#include <troupe/runtime/internal/descriptor.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::net {
namespace {

namespace fs = std::filesystem;

constexpr int max_sandboxes = 64;
constexpr int max_last_tries = 50;
constexpr int max_kill_rounds = 100;

bool write_value(const fs::path& file, const std::string& value) {
  const troupe::internal::descriptor to{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
  if (!to.is_open())
    return false;
  const auto written = ::write(to.get(), value.data(), value.size());
  return written == static_cast<ssize_t>(value.size());
}

// A folder below `parent` in which processes can be counted.
bool usable(const fs::path& parent, const fs::path& folder) {
  std::error_code code;
  // Version 2 hands controllers down on demand; version 1 has no such file.
  if (fs::exists(parent / "cgroup.subtree_control", code))
    static_cast<void>(write_value(parent / "cgroup.subtree_control", "+pids +memory"));
  if (!fs::create_directory(folder, code))
    return false;
  if (fs::exists(folder / "pids.max", code))
    return true;
  fs::remove(folder, code);
  return false;
}

} // namespace

process_cgroup::~process_cgroup() {
  // What made itself a session of its own is still here.
  for (int round = 0; round < max_kill_rounds; ++round) {
    std::ifstream members{entrance()};
    bool empty = true;
    for (int pid = 0; members >> pid;) {
      ::kill(pid, SIGKILL);
      empty = false;
    }
    if (empty)
      break;
  }
  owner_->remove(std::move(folder_));
}

result<std::shared_ptr<process_cgroups>> process_cgroups::open(const fs::path& root) {
  // Several sandboxes of one process have a group each.
  for (int number = 1; number <= max_sandboxes; ++number) {
    const auto name = "troupe-" + std::to_string(::getpid()) + "-" + std::to_string(number);
    for (const auto& parent : {root, root / "pids", root / "unified"})
      if (usable(parent, parent / name))
        return std::shared_ptr<process_cgroups>(new process_cgroups(parent / name));
  }
  return error{errc::not_allowed,
               "No control group of the pids controller can be made below " + root.string() + "."};
}

process_cgroups::~process_cgroups() {
  // What was killed a moment ago may still be on its way out.
  for (int tries = 0; tries < max_last_tries; ++tries) {
    std::erase_if(leftovers_, [](const fs::path& left) { return ::rmdir(left.c_str()) == 0; });
    if (::rmdir(folder_.c_str()) == 0 || errno != EBUSY)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

result<std::unique_ptr<process_cgroup>> process_cgroups::make(const sandbox_limits& limits) {
  fs::path folder;
  {
    std::lock_guard lock{mutex_};
    std::erase_if(leftovers_, [](const fs::path& left) { return ::rmdir(left.c_str()) == 0; });
    folder = folder_ / std::to_string(next_++);
  }
  if (!usable(folder_, folder))
    return error{errc::tool_failed, "The control group " + folder.string() + " cannot be made."};
  auto group = std::make_unique<process_cgroup>(shared_from_this(), folder);
  // One more for what starts the command, and its keeper.
  if (!write_value(folder / "pids.max", std::to_string(limits.max_processes + 2)))
    return error{errc::tool_failed, "The control group " + folder.string() + " takes no limit of processes."};
  static_cast<void>(write_value(folder / "memory.max", std::to_string(limits.max_memory_bytes)));
  return group;
}

void process_cgroups::remove(fs::path folder) {
  if (::rmdir(folder.c_str()) == 0 || errno != EBUSY)
    return;
  std::lock_guard lock{mutex_};
  leftovers_.push_back(std::move(folder));
}

} // namespace troupe::net
