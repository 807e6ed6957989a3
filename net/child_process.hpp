// A program that runs beside us, with its input and output as pipes.
//
// It gets a session and process group of its own. However it ends, the rest of its group is killed then, so helpers that
// it left behind go with it (one that made itself a session of its own escapes; a sandbox keeps those).
//
// Ownership: the pool outlives the process object. Destroying it ends the program in the background: its input is closed,
// after `patience` it gets SIGTERM, after `patience` again SIGKILL; no callback starts any more. Where the pool ends
// first, the group is killed at once.
// Thread-safety: all functions may be called from any thread. Callbacks run on one thread of the pool, one at a time; they
// must not block or throw. Linux only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

class io_pool;

struct process_spec {
  std::vector<std::string> command;                      // the program, looked up in PATH, and its arguments
  std::optional<std::vector<std::string>> environment{}; // "NAME=value"; absent: ours
  std::filesystem::path folder{};                        // that it starts in; empty: ours
  std::chrono::milliseconds patience{2'000};
  std::size_t max_waiting_input = 16 * 1024 * 1024; // bytes that it has not read yet
};

// How a program ended.
struct process_end {
  int code = 0;      // its exit code; with `signal`, 128 + signal
  int signal = 0;    // that ended it, or 0
  bool known = true; // false where SIGCHLD is ignored: the system keeps no exit code then

  [[nodiscard]] bool clean() const noexcept { return known && code == 0 && signal == 0; }
};

// "ended with code 3", "was ended by signal 9 (Killed)".
[[nodiscard]] std::string describe(const process_end& end);

// Bytes are valid during the call only. on_exit is the last call: it comes when the program has ended and its output was
// read as far as the pipes held some.
class process_events {
 public:
  virtual ~process_events() = default;
  virtual void on_output(std::string_view bytes) = 0;
  virtual void on_errors(std::string_view bytes) = 0; // what it writes to its standard error
  virtual void on_exit(process_end end) = 0;
};

class child_process {
 public:
  // Fails with not_found when there is no such program, else with internal; the message names the program.
  [[nodiscard]] static result<std::unique_ptr<child_process>> start(io_pool& pool, process_spec spec,
                                                                    std::shared_ptr<process_events> events);
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  // Queues bytes for its input. False when too many wait already or its input is closed: nothing is queued then.
  [[nodiscard]] bool write(std::string bytes);
  // Once what was queued has been written.
  void close_input();
  // Ends the whole group: asks with SIGTERM and kills after `patience`. on_exit follows.
  void stop();
  // At once.
  void kill();
  [[nodiscard]] int pid() const noexcept;

 private:
  class running;
  explicit child_process(std::shared_ptr<running> process) noexcept;
  std::shared_ptr<running> process_;
};

} // namespace troupe::net
