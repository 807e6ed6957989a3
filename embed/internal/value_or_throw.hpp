// From results within the library to exceptions at its front door.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/runtime.hpp>
#include <troupe/messages/result.hpp>

#include <utility>

namespace troupe {

// The value; throws config_error with what went wrong where there is none.
template <class T>
[[nodiscard]] T value_or_throw(result<T> r) {
  if (!r)
    throw config_error{r.failure()};
  return std::move(*r);
}

} // namespace troupe
