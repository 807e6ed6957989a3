// The one door to CAF 0.17.6: what this folder uses of it, with its holes closed.
//
//   - handles are written by signature: typed<void(a), b(c)>;
//   - a promise that is dropped answers with an error (CAF's own leaves the requester waiting);
//   - delays are converted to nanoseconds (odd ratios become infinite in CAF);
//   - the scheduler's settings stand in code (the defaults starve actors and keep a core busy while idle);
//   - unmatched messages, exceptions and unexpected DOWNs are handled by the actor and never printed.
// Not used anywhere: request with an infinite timeout, .await, groups, streams, cfg.parse().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/thread_lender.hpp>

#include <caf/all.hpp>

#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace troupe::actors {

namespace detail {

template <class Signature>
struct signature;
template <class R, class... Ts>
struct signature<R(Ts...)> {
  using type = typename caf::replies_to<std::decay_t<Ts>...>::template with<R>;
};
template <class... Ts>
struct signature<void(Ts...)> {
  using type = caf::reacts_to<std::decay_t<Ts>...>;
};

} // namespace detail

template <class... Signatures>
using typed = caf::typed_actor<typename detail::signature<Signatures>::type...>;

using steady_time = std::chrono::steady_clock::time_point;

// The actor clock's time: virtual in tests.
template <class Self>
steady_time actor_time(Self* self) {
  return self->home_system().clock().now();
}

// Sends `message` to the actor itself after `delay`. Cannot be cancelled: the message carries a generation.
template <class Self, class Message>
void send_later(Self* self, std::chrono::steady_clock::duration delay, Message message) {
  self->delayed_send(self, std::chrono::duration_cast<caf::timespan>(delay), std::move(message));
}

// A request with a bound. The result wants both .then(ok, error).
template <class Self, class Handle, class... Ts>
auto ask(Self* self, const Handle& to, std::chrono::steady_clock::duration bound, Ts&&... message) {
  return self->request(to, std::chrono::duration_cast<caf::timespan>(bound), std::forward<Ts>(message)...);
}

// Owes one answer. Destroyed without one, it answers with an error.
template <class T>
class owed {
 public:
  explicit owed(caf::typed_response_promise<T> promise) : promise_(std::move(promise)) {}
  owed(owed&& other) noexcept
      : promise_(std::move(other.promise_)), open_(std::exchange(other.open_, false)) {}
  owed& operator=(owed&&) = delete;
  ~owed() {
    if (open_ && promise_.pending())
      promise_.deliver(caf::make_error(caf::sec::runtime_error, "dropped without an answer"));
  }
  void deliver(T value) {
    open_ = false;
    promise_.deliver(std::move(value));
  }

 private:
  caf::typed_response_promise<T> promise_;
  bool open_ = true;
};

// Stands in every function that spawns actors or uses a scoped_actor on a thread that is not CAF's. CAF leaves a
// reference to the system's logger in such a thread, and the destructor of the system waits for it: without this a
// runtime that is destroyed on another thread hangs for as long as the first thread lives.
class outside_thread {
 public:
  outside_thread() = default;
  outside_thread(const outside_thread&) = delete;
  outside_thread& operator=(const outside_thread&) = delete;
  ~outside_thread() { caf::logger::set_current_actor_system(nullptr); }
};

struct scheduler_options {
  std::size_t threads = 0;         // 0: one for each usable processor
  bool testing = false;            // CAF's deterministic coordinator with virtual time
  thread_lender* lender = nullptr; // outlives the system; null: none
};

class system_config : public caf::actor_system_config {
 public:
  explicit system_config(const scheduler_options& options);

  [[nodiscard]] thread_lender* lender() const noexcept { return lender_; }

 private:
  thread_lender* lender_;
};

// Sets the handlers that every actor here has: an unexpected message is dropped, an exception ends the actor with an
// error (its watcher acts on it), a DOWN goes to `on_down`.
template <class Self, class OnDown>
void set_handlers(Self* self, OnDown on_down) {
  self->set_default_handler([](caf::scheduled_actor*, caf::message_view&) -> caf::result<caf::message> {
    return caf::sec::unexpected_message;
  });
  self->set_exception_handler([](caf::scheduled_actor*, std::exception_ptr& failure) -> caf::error {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      return caf::make_error(caf::sec::runtime_error, e.what());
    } catch (...) {
      return caf::make_error(caf::sec::runtime_error, "unknown exception");
    }
  });
  self->set_down_handler([on_down](caf::scheduled_actor*, caf::down_msg& down) { on_down(down); });
}

} // namespace troupe::actors
