// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/transcript.hpp>

#include <array>
#include <utility>

namespace troupe {

template <std::size_t Size>
struct transcript::sized_segment : segment {
  sized_segment() { items = room; }
  sized_segment(const sized_segment&) = delete;
  sized_segment& operator=(const sized_segment&) = delete;

  std::array<content_ptr, Size> room;
};

template <std::size_t Size>
std::shared_ptr<transcript::segment> transcript::make_segment(std::size_t size) {
  if constexpr (Size < largest_segment)
    if (size > Size)
      return make_segment<Size * 2>(size);
  return std::make_shared<sized_segment<Size>>();
}

void transcript::append(content_ptr item) {
  const auto [number, slot] = place_of(size_);
  if (slot == 0) {
    segments_.push_back(make_segment(size_of(number)));
  } else if (segments_.back()->used != slot) {
    // Another copy has already appended here: go on in a segment of our own.
    auto fork = make_segment(size_of(number));
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
