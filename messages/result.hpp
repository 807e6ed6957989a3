// A value or an error. The standard's expected needs C++23; this is the part of it that the boundaries here
// use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/error.hpp>

#include <cassert>
#include <utility>
#include <variant>

namespace troupe {

// Either a T or an error; never empty. Reading the wrong side is a defect of the caller (assert).
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  result(error e) : content_(std::in_place_index<1>, std::move(e)) {}
  result(errc code, std::string message)
      : content_(std::in_place_index<1>, error{code, std::move(message)}) {}

  [[nodiscard]] bool has_value() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& operator*() & noexcept { return *std::get_if<0>(&content_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&content_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&content_)); }
  T* operator->() noexcept { return std::get_if<0>(&content_); }
  const T* operator->() const noexcept { return std::get_if<0>(&content_); }

  [[nodiscard]] const error& failure() const& noexcept { return *std::get_if<1>(&content_); }
  [[nodiscard]] error&& failure() && noexcept { return std::move(*std::get_if<1>(&content_)); }

  // The value, or `other` when there is none.
  T value_or(T other) && { return has_value() ? std::move(**this) : std::move(other); }

 private:
  std::variant<T, error> content_;
};

// The result of what gives nothing back.
using status = result<std::monostate>;
inline status ok() {
  return status{std::monostate{}};
}

} // namespace troupe
