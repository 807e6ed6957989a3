// Control groups that bound how many processes a command has.
//
// The kernel does not count processes of root against RLIMIT_NPROC, so a sandbox that root starts needs a control group of
// the pids controller; other users' are bounded by that limit. Version 2 of control groups bounds memory as well.
// Linux; thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/sandbox_options.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace troupe::net {

class process_cgroups;

// The group of one command, which goes with this object. What is still in it is killed by the sandbox itself.
class process_cgroup {
 public:
  process_cgroup(std::shared_ptr<process_cgroups> owner, std::filesystem::path folder) noexcept
      : owner_(std::move(owner)), folder_(std::move(folder)) {}
  ~process_cgroup();
  process_cgroup(const process_cgroup&) = delete;
  process_cgroup& operator=(const process_cgroup&) = delete;

  // The file that a process writes 0 to, to enter.
  [[nodiscard]] std::filesystem::path entrance() const { return folder_ / "cgroup.procs"; }

 private:
  std::shared_ptr<process_cgroups> owner_;
  std::filesystem::path folder_;
};

class process_cgroups : public std::enable_shared_from_this<process_cgroups> {
 public:
  // Makes a group for this program below `root`, the file system of control groups. Fails with not_allowed where there is
  // no pids controller that we may use.
  [[nodiscard]] static result<std::shared_ptr<process_cgroups>>
  open(const std::filesystem::path& root = "/sys/fs/cgroup");
  ~process_cgroups();
  process_cgroups(const process_cgroups&) = delete;
  process_cgroups& operator=(const process_cgroups&) = delete;

  [[nodiscard]] result<std::unique_ptr<process_cgroup>> make(const sandbox_limits& limits);

 private:
  friend class process_cgroup;
  explicit process_cgroups(std::filesystem::path folder) noexcept : folder_(std::move(folder)) {}
  void remove(std::filesystem::path folder);

  std::filesystem::path folder_;
  std::mutex mutex_;
  std::uint64_t next_ = 1;
  std::vector<std::filesystem::path> leftovers_; // whose processes are not gone yet; tried again
};

} // namespace troupe::net
