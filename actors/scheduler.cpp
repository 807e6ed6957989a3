// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/scheduler.hpp>

#include <algorithm>
#include <utility>

namespace troupe::actors {

// Both require the lock. Whoever sleeps is to be notified when they are true.
bool job_queue::calls_for_work() {
  if (sleeping_ == 0 || jobs_.size() <= std::min(running_, max_left_waiting))
    return false;
  --sleeping_;
  ++running_;
  ++to_work_;
  return true;
}

bool job_queue::calls_for_watch() {
  if (sleeping_ == 0 || jobs_.empty() || watched_)
    return false;
  watched_ = watch_called_ = true;
  return true;
}

void job_queue::add(caf::resumable* job) {
  {
    std::lock_guard lock{mutex_};
    jobs_.push_back(job);
    busy_ = true;
    if (!calls_for_work() && !calls_for_watch())
      return;
  }
  called_.notify_one();
}

void job_queue::add_from_outside(caf::resumable* job) {
  std::lock_guard lock{mutex_};
  jobs_.push_back(job);
  busy_ = true;
  if (calls_for_work() || calls_for_watch())
    called_.notify_one();
}

caf::resumable* job_queue::take(bool first) {
  std::unique_lock lock{mutex_};
  if (first)
    ++running_;
  while (jobs_.empty())
    sleep(lock);
  auto* job = jobs_.front();
  jobs_.pop_front();
  // Who has watched may have come here; what still waits is not left to those who run.
  const bool calls = calls_for_watch();
  lock.unlock();
  if (calls)
    called_.notify_one();
  return job;
}

caf::resumable* job_queue::try_take() {
  std::lock_guard lock{mutex_};
  if (jobs_.empty())
    return nullptr;
  auto* job = jobs_.front();
  jobs_.pop_front();
  return job;
}

void job_queue::leave() {
  std::lock_guard lock{mutex_};
  --running_;
  if (calls_for_work() || calls_for_watch())
    called_.notify_one();
}

// Ends when the thread counts as running again.
void job_queue::sleep(std::unique_lock<std::mutex>& lock) {
  --running_;
  ++sleeping_;
  bool watches = running_ > 0 && !std::exchange(watched_, true);
  for (;;) {
    if (to_work_ > 0) {
      --to_work_;
      if (watches)
        watched_ = false;
      return;
    }
    if (std::exchange(watch_called_, false))
      watches = true;
    if (!watches) {
      called_.wait(lock);
      continue;
    }
    if (called_.wait_for(lock, look_again) == std::cv_status::no_timeout || to_work_ > 0)
      continue;
    if (!jobs_.empty()) {
      --sleeping_;
      ++running_;
      watched_ = false;
      return;
    }
    if (!std::exchange(busy_, false))
      watches = watched_ = false; // the next job calls for one
  }
}

void sparing_clock::set_ordinary_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                                         std::uint64_t id) {
  note(*self);
  real_.set_ordinary_timeout(at, self, type, id);
}

void sparing_clock::set_request_timeout(time_point at, caf::abstract_actor* self, caf::message_id id) {
  note(*self);
  real_.set_request_timeout(at, self, id);
}

void sparing_clock::set_multi_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                                      std::uint64_t id) {
  note(*self);
  real_.set_multi_timeout(at, self, type, id);
}

void sparing_clock::cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) {
  real_.cancel_ordinary_timeout(self, type);
}

void sparing_clock::cancel_request_timeout(caf::abstract_actor* self, caf::message_id id) {
  real_.cancel_request_timeout(self, id);
}

void sparing_clock::cancel_timeouts(caf::abstract_actor* self) {
  {
    std::lock_guard lock{mutex_};
    if (waiting_.erase(self->id()) == 0)
      return;
  }
  real_.cancel_timeouts(self);
}

void sparing_clock::schedule_message(time_point at, caf::strong_actor_ptr receiver,
                                     caf::mailbox_element_ptr content) {
  real_.schedule_message(at, std::move(receiver), std::move(content));
}

void sparing_clock::schedule_message(time_point at, caf::group target, caf::strong_actor_ptr sender,
                                     caf::message content) {
  real_.schedule_message(at, std::move(target), std::move(sender), std::move(content));
}

void sparing_clock::cancel_all() {
  real_.cancel_all(); // an actor that sets one at this moment stays known
}

void sparing_clock::note(const caf::abstract_actor& self) {
  std::lock_guard lock{mutex_};
  waiting_.insert(self.id());
}

} // namespace troupe::actors
