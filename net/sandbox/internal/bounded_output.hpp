// The output of a command, of which the beginning and the end are kept. Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::net {

class bounded_output {
 public:
  // Keeps at most `max_bytes`: half of them from the beginning.
  explicit bounded_output(std::size_t max_bytes) noexcept : max_bytes_(max_bytes) {}

  void add(std::string_view bytes);

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

  // What is kept as UTF-8, with a note where something was left out.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t max_bytes_;
  std::uint64_t total_ = 0;
  std::string head_;
  std::string tail_; // at most twice what is kept of the end
};

} // namespace troupe::net
