// Cuts a stream of bytes into lines, with a bound on their length. Pure; not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::net {

// Lines end with LF or CRLF; empty ones are passed over.
class line_reader {
 public:
  explicit line_reader(std::size_t max_bytes) noexcept : max_bytes_(max_bytes) {}

  // Calls `line(text)` for each line that `bytes` complete; it lies in a buffer and is valid during the call only. False
  // when a line is longer than allowed: it is dropped with all that has come.
  template <class Line>
  [[nodiscard]] bool feed(std::string_view bytes, Line&& line) {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto piece = bytes.substr(0, end);
      if (begun_.size() + piece.size() > max_bytes_) {
        begun_.clear();
        return false;
      }
      if (end == std::string_view::npos) {
        begun_ += piece;
        return true;
      }
      bytes.remove_prefix(end + 1);
      if (begun_.empty()) {
        give(piece, line);
        continue;
      }
      begun_ += piece;
      const auto whole = std::exchange(begun_, {});
      give(whole, line);
    }
    return true;
  }

  // The line that no line end has ended.
  template <class Line>
  void finish(Line&& line) {
    const auto whole = std::exchange(begun_, {});
    give(whole, line);
  }

 private:
  template <class Line>
  static void give(std::string_view text, Line& line) {
    if (text.ends_with('\r'))
      text.remove_suffix(1);
    if (!text.empty())
      line(text);
  }

  std::size_t max_bytes_;
  std::string begun_;
};

} // namespace troupe::net
