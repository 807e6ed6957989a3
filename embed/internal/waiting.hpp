// Waiting for what an engine tells through a callback.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

namespace troupe {

constexpr std::chrono::seconds acknowledge_limit{30};

// Calls `start` with a callback and waits for its value, at most `limit`; nothing when it does not come or when the
// callback was dropped. A second call of the callback changes nothing.
template <class T, class Start>
std::optional<T> wait_for_value(std::chrono::milliseconds limit, Start start) {
  auto promise = std::make_shared<std::promise<T>>();
  auto answer = promise->get_future();
  start([promise](T value) {
    try {
      promise->set_value(std::move(value));
    } catch (const std::future_error&) {
      return; // told twice: the first word counts
    }
  });
  promise.reset();
  if (answer.wait_for(limit) != std::future_status::ready)
    return std::nullopt;
  try {
    return answer.get();
  } catch (const std::future_error&) {
    return std::nullopt;
  }
}

template <class Start>
status wait_for_status(Start start) {
  auto told = wait_for_value<status>(acknowledge_limit, std::move(start));
  return told ? *told : status{error{errc::timeout, "The session did not acknowledge in time."}};
}

inline error runtime_is_gone() {
  return {errc::shutting_down, "The runtime has ended."};
}

} // namespace troupe
