// From a run to the program that follows it: its stored events in order, none lost, and its outcome.
//
// The supervisor pushes; one reader takes. The queue is bounded: a reader that falls behind costs no memory and slows
// nobody, and goes on from the store. Events after a gap in the store (see session_store) are counted as missed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/runtime/ports/session_store.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace troupe {

struct run_feed_options {
  std::size_t max_queued_events = 4096;
};

// Thread-safe. Shared by the supervisor and the reader.
class run_feed {
 public:
  run_feed(session_id session, std::shared_ptr<session_store> store, run_feed_options options = {});

  // -- the supervisor's side ------------------------------------------------------------------------------------------

  // The run has begun; its events are those of `run`, from `first_seq` on.
  void begin(const run_id& run, std::uint64_t first_seq);
  void push(const event_batch_ptr& batch);
  // Ends the feed; a second call changes nothing.
  void finish(outcome result);

  // -- the reader's side ----------------------------------------------------------------------------------------------

  // The next batch of the run's session, or nothing when the run has ended and all was taken, or at `deadline`.
  // A batch may hold events of other runs that ended late (background work); the reader filters by run_id if it cares.
  [[nodiscard]] std::optional<event_batch_ptr> next(std::chrono::steady_clock::time_point deadline);

  // True when `next` can give nothing any more.
  [[nodiscard]] bool drained() const;

  // Waits for the outcome until `deadline`.
  [[nodiscard]] std::optional<outcome> wait(std::chrono::steady_clock::time_point deadline) const;
  [[nodiscard]] std::optional<outcome> result() const;
  [[nodiscard]] run_id run() const;

  // Events that neither the queue nor the store could give.
  [[nodiscard]] std::uint64_t missed() const;

  // Called, on the supervisor's thread and without a lock, whenever there is something new. Must be short.
  void on_ready(std::function<void()> callback);

 private:
  std::optional<event_batch_ptr> take(std::unique_lock<std::mutex>& lock);
  std::optional<event_batch_ptr> take_from_store(std::unique_lock<std::mutex>& lock);

  const session_id session_;
  const std::shared_ptr<session_store> store_;
  const run_feed_options options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;       // for readers of the events
  mutable std::condition_variable ended_; // for those who wait for the outcome: no event wakes them
  std::list<event_batch_ptr> queue_;      // unlike a deque it owns no memory while it is empty
  std::size_t queued_ = 0;                // events in queue_
  bool lagging_ = false;                  // pushes were dropped; the reader goes on from the store
  std::uint64_t taken_ = 0;               // the last seq that the reader has
  std::uint64_t pushed_ = 0;              // the last seq that there is
  std::uint64_t missed_ = 0;
  run_id run_;
  std::optional<outcome> result_;
  std::function<void()> ready_;
};

// The supervisor's handle: a feed that is dropped without an outcome ends as `crashed`, so no reader waits for ever.
class run_feed_writer {
 public:
  run_feed_writer() = default;
  explicit run_feed_writer(std::shared_ptr<run_feed> feed) : feed_(std::move(feed)) {}
  run_feed_writer(run_feed_writer&&) noexcept = default;
  run_feed_writer& operator=(run_feed_writer&& other) noexcept;
  ~run_feed_writer();

  run_feed* operator->() const noexcept { return feed_.get(); }
  [[nodiscard]] const std::shared_ptr<run_feed>& shared() const noexcept { return feed_; }
  explicit operator bool() const noexcept { return feed_ != nullptr; }

 private:
  void abandon() noexcept;
  std::shared_ptr<run_feed> feed_;
};

} // namespace troupe
