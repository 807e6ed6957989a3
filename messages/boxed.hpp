// An optional value that takes no room where it is absent: for members that few objects have.
//
// A value type: copies are deep, equality is that of the values. Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace troupe {

template <class T>
class boxed {
 public:
  boxed() = default;
  boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}
  boxed(const boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  boxed(boxed&&) noexcept = default;
  boxed& operator=(const boxed& other) {
    value_ = other ? std::make_unique<T>(*other) : nullptr;
    return *this;
  }
  boxed& operator=(boxed&&) noexcept = default;
  ~boxed() = default;

  [[nodiscard]] explicit operator bool() const noexcept { return value_ != nullptr; }
  [[nodiscard]] bool has_value() const noexcept { return value_ != nullptr; }
  // Only where there is one.
  [[nodiscard]] const T& operator*() const noexcept { return *value_; }
  [[nodiscard]] T& operator*() noexcept { return *value_; }
  [[nodiscard]] const T* operator->() const noexcept { return value_.get(); }
  [[nodiscard]] T* operator->() noexcept { return value_.get(); }

  void reset() noexcept { value_.reset(); }

  friend bool operator==(const boxed& a, const boxed& b) {
    return a.has_value() == b.has_value() && (!a || *a == *b);
  }

 private:
  std::unique_ptr<T> value_;
};

} // namespace troupe
