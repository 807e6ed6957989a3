// A protocol of lines on standard input, for programs that start us; line_output.hpp has the other direction.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "interrupt.hpp"

namespace troupe::cli {

// Bytes of one message, and of those that wait for a client that does not read.
constexpr std::size_t max_stdio_line = std::size_t{64} << 20;
constexpr std::size_t max_stdio_waiting = std::size_t{64} << 20;

// Why the reading is over: the input's end, a signal or `stop`, or a reader that would not go on.
enum class stdio_end { closed, stopped, refused };

// One reader at a time; `stop` is thread-safe.
class stdio_input {
 public:
  // Throws config_error when there is no descriptor to be had.
  stdio_input();
  ~stdio_input();
  stdio_input(const stdio_input&) = delete;
  stdio_input& operator=(const stdio_input&) = delete;

  // Ends the reading, for good.
  void stop() const noexcept;

  // Gives `take` the bytes as they come, until it says false.
  [[nodiscard]] stdio_end read(interrupt& signals,
                               const std::function<bool(std::string_view bytes)>& take) const;

  // The same for lines, without their ends; empty ones are left out. A longer line is passed over, and `too_long` is told.
  void read_lines(interrupt& signals, const std::function<void(std::string line)>& take,
                  const std::function<void()>& too_long, std::size_t max_line = max_stdio_line) const;

 private:
  int stopped_; // becomes readable
};

} // namespace troupe::cli
