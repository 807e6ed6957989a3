// A run of an agent, as the program that started it sees it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/outcome.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/runtime/ports/engine.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

class run_state;

// A handle: copies refer to the same run, and dropping them does not end it. Once the runtime has ended, the outcome and
// the events that were not yet read are still there, and the rest fails with shutting_down. Thread-safe, but for the
// event range, which has one reader.
class run {
 public:
  explicit run(std::shared_ptr<run_state> state) : state_(std::move(state)) {}

  // -- the event range: every stored event of the run, in order, until the run ends --------------------------------------

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = event;
    using difference_type = std::ptrdiff_t;
    using pointer = const event*;
    using reference = const event&;

    iterator() = default;
    reference operator*() const noexcept { return (*batch_)[at_]; }
    pointer operator->() const noexcept { return &(*batch_)[at_]; }
    // Waits for the next event.
    iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& a, std::default_sentinel_t) noexcept {
      return a.batch_ == nullptr;
    }

   private:
    friend class run;
    explicit iterator(std::shared_ptr<run_state> state);
    void settle();
    std::shared_ptr<run_state> state_;
    event_batch_ptr batch_;
    std::size_t at_ = 0;
  };

  // Waits for the first event. The range can be read once.
  [[nodiscard]] iterator begin() const { return iterator{state_}; }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  // Events that were not kept long enough for this reader (see memory_store_options); 0 as a rule.
  [[nodiscard]] std::uint64_t missed() const;

  // -- control ----------------------------------------------------------------------------------------------------------

  // A hint to the root and every child that runs. Waits until it is stored.
  status steer(std::string text);
  // Answers a question (its id stands in the question event). Waits until the answer is stored.
  status answer(const std::string& question_id, nlohmann::json value);
  // Ends the run; background work that it started goes on (see session::cancel).
  void cancel(std::string by = "user");
  // The background work of the run's session.
  [[nodiscard]] result<std::vector<background_task>> background();

  // Calls `callback` for each event of the run, in order, on the runtime's dispatcher thread; instead of the range.
  // It may call this run's functions. What it throws is caught and logged.
  void on_event(std::function<void(const event&)> callback);

  // Calls `callback` for streamed pieces of the run's session from now on; they are lost where nobody is in time.
  void on_partial(std::function<void(const partial&)> callback);

  // Waits for the end; false when it has not come after `limit`.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit) const;
  // Waits for the end.
  [[nodiscard]] troupe::outcome outcome() const;

  [[nodiscard]] const session_id& session() const noexcept;
  // Empty until the run has begun.
  [[nodiscard]] run_id id() const;

 private:
  std::shared_ptr<run_state> state_;
};

} // namespace troupe
