// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/transcript.hpp>

#include <utility>

namespace troupe {

void transcript::append(content_ptr item) {
  auto slot = size_ % segment_size;
  if (slot == 0) {
    segments_.push_back(std::make_shared<segment>());
  } else if (segments_.back()->used != slot) {
    // Another copy has already appended here: go on in a segment of our own.
    auto fork = std::make_shared<segment>();
    for (std::size_t i = 0; i < slot; ++i)
      fork->items[i] = segments_.back()->items[i];
    segments_.back() = std::move(fork);
  }
  segments_.back()->items[slot] = std::move(item);
  segments_.back()->used = slot + 1;
  ++size_;
}

transcript transcript::replace_front(std::size_t count, content_ptr head) const {
  transcript fresh;
  fresh.append(std::move(head));
  for (std::size_t i = count; i < size_; ++i)
    fresh.append((*this)[i]);
  return fresh;
}

bool operator==(const transcript& a, const transcript& b) {
  if (a.size_ != b.size_)
    return false;
  for (std::size_t i = 0; i < a.size_; ++i)
    if (a[i] != b[i] && !(*a[i] == *b[i]))
      return false;
  return true;
}

} // namespace troupe
