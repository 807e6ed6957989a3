// The port to time that passes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace troupe {

// A callback that waits; destroying it cancels the wait. After that the callback does not start any more.
class timer_handle {
 public:
  virtual ~timer_handle() = default;
};

// Thread-safe. Tests implement it with a clock that is advanced by hand.
class timer {
 public:
  virtual ~timer() = default;

  // Calls `callback` once, `delay` from now, on a thread of the implementation. The callback is short and
  // never blocks.
  [[nodiscard]] virtual std::unique_ptr<timer_handle> after(std::chrono::milliseconds delay,
                                                            std::function<void()> callback) = 0;
};

} // namespace troupe
