// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/sandbox/internal/bounded_output.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>

namespace troupe::net {

void bounded_output::add(std::string_view bytes) {
  total_ += bytes.size();
  const auto head_room = max_bytes_ / 2 - std::min(head_.size(), max_bytes_ / 2);
  head_.append(bytes.substr(0, head_room));
  bytes.remove_prefix(std::min(head_room, bytes.size()));
  const auto kept = max_bytes_ - max_bytes_ / 2;
  if (bytes.size() > kept)
    bytes.remove_prefix(bytes.size() - kept);
  tail_.append(bytes);
  if (tail_.size() > 2 * kept)
    tail_.erase(0, tail_.size() - kept);
}

std::string bounded_output::text() const {
  const auto kept = max_bytes_ - max_bytes_ / 2;
  const auto end = std::string_view{tail_}.substr(tail_.size() - std::min(kept, tail_.size()));
  const auto left_out = total_ - head_.size() - end.size();
  if (left_out == 0)
    return valid_utf8(head_ + std::string{end});
  return valid_utf8(head_) + "\n[… " + std::to_string(left_out) + " bytes left out …]\n" + valid_utf8(end);
}

} // namespace troupe::net
