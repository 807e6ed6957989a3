// A conversation: an append-only list of immutable contents that is cheap to copy.
//
// Copies share their segments, each of twice the size of the one before, so a model request of a long conversation costs
// about as many pointers as the number of its contents has binary digits.
// Thread-safety: one owner appends; copies may be read on any thread, since an append never touches what a
// copy sees.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>

#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace troupe {

class transcript {
 public:
  // Contents of the first segment and of the largest: most conversations are short.
  static constexpr std::size_t first_segment = 8;
  static constexpr std::size_t doublings = 7;
  static constexpr std::size_t largest_segment = first_segment << doublings;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // `i` is below size().
  [[nodiscard]] const content_ptr& operator[](std::size_t i) const noexcept {
    const auto at = place_of(i);
    return segments_[at.segment]->items[at.slot];
  }
  [[nodiscard]] const content_ptr& back() const noexcept { return (*this)[size_ - 1]; }

  void append(content_ptr item);
  void append(content item) { append(std::make_shared<const content>(std::move(item))); }

  // A transcript without the first `count` contents, preceded by `head`. For compaction.
  [[nodiscard]] transcript replace_front(std::size_t count, content_ptr head) const;

  friend bool operator==(const transcript& a, const transcript& b);

 private:
  struct segment {
    std::span<content_ptr> items;
    std::size_t used = 0; // touched by the owner only
  };
  template <std::size_t Size>
  struct sized_segment;
  struct place {
    std::size_t segment;
    std::size_t slot;
  };

  [[nodiscard]] static constexpr std::size_t size_of(std::size_t segment) noexcept {
    return first_segment << (segment < doublings ? segment : doublings);
  }
  [[nodiscard]] static constexpr place place_of(std::size_t i) noexcept {
    constexpr std::size_t before_largest =
        largest_segment - first_segment; // contents of all that are smaller
    if (i >= before_largest)
      return {doublings + (i - before_largest) / largest_segment, (i - before_largest) % largest_segment};
    const auto segment = static_cast<std::size_t>(std::bit_width(i / first_segment + 1)) - 1;
    return {segment, i + first_segment - size_of(segment)};
  }
  template <std::size_t Size = first_segment>
  [[nodiscard]] static std::shared_ptr<segment> make_segment(std::size_t size);

  std::vector<std::shared_ptr<segment>> segments_;
  std::size_t size_ = 0;
};

} // namespace troupe
