// Writes lines to a file descriptor from a thread of its own, so that nobody waits for a slow reader.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace troupe::cli {

// Thread-safe. Once `max_bytes` wait, or writing fails, it is broken: `broken` is called once, on any thread, and what
// comes then is dropped.
class line_output {
 public:
  line_output(int fd, std::size_t max_bytes, std::function<void()> broken);
  // Writes what waits, unless it is broken.
  ~line_output();
  line_output(const line_output&) = delete;
  line_output& operator=(const line_output&) = delete;

  void write(std::string line);

 private:
  void work();
  void give_up();

  const int fd_;
  const std::size_t max_bytes_;
  const std::function<void()> broken_;
  std::mutex mutex_; // guards what follows
  std::condition_variable wake_;
  std::deque<std::string> lines_;
  std::size_t waiting_ = 0; // bytes
  bool closed_ = false;
  bool is_broken_ = false;
  std::thread thread_;
};

} // namespace troupe::cli
