// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/sse_parser.hpp>

#include <algorithm>
#include <charconv>

namespace troupe::net {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// The first CR or LF. Lines end with LF as a rule, so that is looked for first, and both by the fast way to find one byte.
std::size_t find_line_end(std::string_view bytes) noexcept {
  auto end = bytes.find('\n');
  return std::min(end, bytes.substr(0, end).find('\r'));
}

} // namespace

bool sse_parser::feed(std::string_view bytes, sse_events& events) {
  while (start_ < byte_order_mark.size() && !bytes.empty()) {
    if (bytes.front() != byte_order_mark[start_]) {
      // It only began like one.
      line_.append(byte_order_mark.substr(0, start_));
      start_ = byte_order_mark.size();
      break;
    }
    ++start_;
    bytes.remove_prefix(1);
  }
  if (after_cr_ && !bytes.empty()) {
    after_cr_ = false;
    if (bytes.front() == '\n')
      bytes.remove_prefix(1);
  }
  while (!bytes.empty()) {
    auto end = find_line_end(bytes);
    if (line_.size() + data_.size() + data_view_.size() + std::min(end, bytes.size()) > max_event_bytes_)
      return false;
    if (end == std::string_view::npos) {
      line_.append(bytes);
      break;
    }
    if (line_.empty()) {
      take_line(bytes.substr(0, end), events);
    } else {
      line_.append(bytes.substr(0, end));
      take_line(line_, events);
      keep_view();
      line_.clear();
    }
    bool carriage_return = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (carriage_return && bytes.empty())
      after_cr_ = true;
    else if (carriage_return && bytes.front() == '\n')
      bytes.remove_prefix(1);
  }
  keep_view();
  return true;
}

void sse_parser::finish(sse_events& events) {
  if (!line_.empty()) {
    take_line(line_, events);
    keep_view();
    line_.clear();
  }
  dispatch(events);
}

void sse_parser::take_line(std::string_view line, sse_events& events) {
  if (line.empty())
    return dispatch(events);
  auto colon = line.find(':');
  if (colon == 0)
    return;
  if (colon == std::string_view::npos)
    return take_field(line, {});
  auto value = line.substr(colon + 1);
  if (value.starts_with(' '))
    value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
}

void sse_parser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    add_data(value);
  } else if (name == "event") {
    event_ = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos)
      last_event_id_ = value;
  } else if (name == "retry") {
    std::uint64_t number = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && end == value.data() + value.size())
      retry_ms_ = number;
  }
}

void sse_parser::add_data(std::string_view value) {
  if (!has_data_) {
    has_data_ = true;
    viewing_ = true;
    data_view_ = value;
    return;
  }
  keep_view();
  data_ += '\n';
  data_.append(value);
}

void sse_parser::keep_view() {
  if (!viewing_)
    return;
  data_.assign(data_view_);
  data_view_ = {};
  viewing_ = false;
}

void sse_parser::dispatch(sse_events& events) {
  if (has_data_)
    events.on_event(event_.empty() ? std::string_view("message") : event_, viewing_ ? data_view_ : data_);
  event_.clear();
  data_.clear();
  data_view_ = {};
  has_data_ = viewing_ = false;
}

} // namespace troupe::net
