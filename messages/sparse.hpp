// A standard container that takes the room of a pointer while it is empty: for members that few objects fill.
//
// A value type: copies are deep, equality is that of the contents. Not thread-safe, but for reading.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/boxed.hpp>

namespace troupe {

template <class Container>
class sparse {
 public:
  [[nodiscard]] const Container& operator*() const noexcept {
    static const Container none;
    return filled_ ? *filled_ : none;
  }
  [[nodiscard]] const Container* operator->() const noexcept { return &**this; }

  // `edit` gets the container and may change it.
  template <class Edit>
  void change(Edit edit) {
    if (!filled_)
      filled_ = Container{};
    edit(*filled_);
    if (filled_->empty())
      filled_.reset();
  }

  friend bool operator==(const sparse& a, const sparse& b) { return *a == *b; }

 private:
  boxed<Container> filled_; // never empty
};

} // namespace troupe
