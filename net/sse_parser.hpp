// Reads a stream of server-sent events, in pieces as they come.
//
// Protocol: the "text/event-stream" format of the WHATWG HTML standard, section 9.2.6: lines end with CR, LF
// or CRLF; an empty line ends an event; "data" lines are joined by LF; comments are skipped; a leading byte
// order mark too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

class sse_events {
 public:
  // `name` is "message" when the event has none. Both views are valid during the call only.
  virtual void on_event(std::string_view name, std::string_view data) = 0;

 protected:
  ~sse_events() = default;
};

// Not thread-safe. Holds no more than one unfinished event of at most `max_event_bytes`; an event that lies
// whole in one piece is not copied.
class sse_parser {
 public:
  static constexpr std::size_t default_max_event_bytes = 16 * 1024 * 1024;

  explicit sse_parser(std::size_t max_event_bytes = default_max_event_bytes) noexcept
      : max_event_bytes_(max_event_bytes) {}

  // Calls `events` for each event that `bytes` complete. False when an event is larger than allowed: then the
  // stream cannot be read any further.
  [[nodiscard]] bool feed(std::string_view bytes, sse_events& events);

  // At the end of the stream. The standard drops an event that no empty line has ended; servers that close
  // right after their last line are common, so the event is given all the same.
  void finish(sse_events& events);

  // The last "id" and "retry" that came; they outlast the event.
  [[nodiscard]] const std::string& last_event_id() const noexcept { return last_event_id_; }
  [[nodiscard]] std::optional<std::uint64_t> retry_ms() const noexcept { return retry_ms_; }

 private:
  void take_line(std::string_view line, sse_events& events);
  void take_field(std::string_view name, std::string_view value);
  void add_data(std::string_view value);
  void dispatch(sse_events& events);
  void keep_view();

  std::size_t max_event_bytes_;
  std::string line_; // the beginning of a line whose end has not come
  std::string data_;
  std::string_view data_view_; // the only data line so far, in the piece that is being read
  std::string event_;
  std::string last_event_id_;
  std::optional<std::uint64_t> retry_ms_;
  bool has_data_ = false;
  bool viewing_ = false;  // the data are in data_view_, not in data_
  bool after_cr_ = false; // an LF that comes now belongs to the line before
  std::size_t start_ = 0; // bytes of the byte order mark that have been seen; 3 when that is over
};

} // namespace troupe::net
