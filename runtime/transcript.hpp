// A conversation: an append-only list of immutable contents that is cheap to copy.
//
// Copies share their segments, so a model request of a long conversation costs one pointer for 16 contents.
// Thread-safety: one owner appends; copies may be read on any thread, since an append never touches what a
// copy sees.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace troupe {

class transcript {
 public:
  static constexpr std::size_t segment_size = 16;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  // `i` is below size().
  [[nodiscard]] const content_ptr& operator[](std::size_t i) const noexcept {
    return (*segments_[i / segment_size]).items[i % segment_size];
  }
  [[nodiscard]] const content_ptr& back() const noexcept { return (*this)[size_ - 1]; }

  void append(content_ptr item);
  void append(content item) { append(std::make_shared<const content>(std::move(item))); }

  // A transcript without the first `count` contents, preceded by `head`. For compaction.
  [[nodiscard]] transcript replace_front(std::size_t count, content_ptr head) const;

  friend bool operator==(const transcript& a, const transcript& b);

 private:
  struct segment {
    std::array<content_ptr, segment_size> items;
    std::size_t used = 0; // touched by the owner only
  };
  std::vector<std::shared_ptr<segment>> segments_;
  std::size_t size_ = 0;
};

} // namespace troupe
