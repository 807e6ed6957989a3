// A file that gets each stored event of all sessions as a line of JSON, with secrets masked.
//
// A thread of its own asks the engine for recent events, five times a second, and writes; neither agents nor the network
// wait for the disk. Where events came faster than they were kept for it, a line {"missed": n} says so; they are in the
// store. The file is only ever appended to: who rotates it copies and truncates. A write that fails is logged once, and
// what it held is lost.
//
// Ownership: the engine outlives stop(). Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/ports/engine.hpp>

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

namespace troupe {

class events_file {
 public:
  // `after` is the position of the first event of interest. Fails with bad_config when the file cannot be opened.
  [[nodiscard]] static result<std::unique_ptr<events_file>>
  open(const std::filesystem::path& path, engine& of, std::uint64_t after, log_sink log);

  ~events_file();
  events_file(const events_file&) = delete;
  events_file& operator=(const events_file&) = delete;

  // Writes what has come until now and ends the thread.
  void stop();

 private:
  events_file(std::ofstream out, std::filesystem::path path, engine& of, std::uint64_t after, log_sink log);

  void work();
  std::shared_ptr<const recent_events> ask();
  void write(const recent_events& came);
  // True when the file is to end.
  bool pause(std::chrono::milliseconds duration);

  std::ofstream out_;
  const std::filesystem::path path_;
  engine& engine_;
  std::uint64_t position_;
  const log_sink log_;
  bool broken_ = false;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_; // the last member: it uses the others
};

} // namespace troupe
