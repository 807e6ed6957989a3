// A protocol of lines on standard input and output, for programs that start us.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "interrupt.hpp"

namespace troupe::cli {

constexpr std::size_t max_stdio_line = std::size_t{64} << 20;

// Writes whole lines to standard output. Thread-safe. Once the reader has gone, lines are dropped.
class stdio_writer {
 public:
  void operator()(const std::string& line);

 private:
  std::mutex mutex_;
  bool gone_ = false;
};

// Gives each line of standard input, without its end, to `take`, until the input ends or a signal comes. A longer line is
// passed over, and `too_long` is told.
void read_stdio_lines(interrupt& signals, const std::function<void(std::string)>& take,
                      const std::function<void()>& too_long, std::size_t max_line = max_stdio_line);

} // namespace troupe::cli
