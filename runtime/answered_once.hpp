// A callback that is called exactly once, whatever becomes of those who hold it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace troupe {

// `told` with the first value that the result is called with; with what `otherwise` gives when all copies are gone and
// none was called. Not thread-safe: the copies are called one at a time.
template <class T>
[[nodiscard]] std::function<void(T)> answered_once(std::function<void(T)> told,
                                                   std::function<T()> otherwise) {
  if (!told)
    return told;
  struct state {
    std::function<void(T)> told;
    std::function<T()> otherwise;
    state(std::function<void(T)> first, std::function<T()> second)
        : told(std::move(first)), otherwise(std::move(second)) {}
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() {
      if (told)
        tell(otherwise());
    }
    void tell(T value) {
      if (auto call = std::exchange(told, nullptr))
        call(std::move(value));
    }
  };
  auto shared = std::make_shared<state>(std::move(told), std::move(otherwise));
  return [shared](T value) { shared->tell(std::move(value)); };
}

// Likewise for a callback without a value.
[[nodiscard]] inline std::function<void()> called_once(std::function<void()> call) {
  if (!call)
    return call;
  auto once = answered_once<bool>([call = std::move(call)](bool) { call(); }, [] { return true; });
  return [once] { once(true); };
}

} // namespace troupe
