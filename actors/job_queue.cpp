// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/job_queue.hpp>

#include <algorithm>
#include <utility>

namespace troupe::actors {

// All private functions require the lock.

bool job_queue::may_be_lent(const caf::resumable& job) const noexcept {
  return !lanes_.empty() && !lanes_closed_ && job.subtype() == caf::resumable::io_actor;
}

bool job_queue::is_paused(const lane& l) {
  return l.paused_until > clock::time_point{} && clock::now() < l.paused_until;
}

// Of a job from outside. Null: it is for the scheduler's threads.
job_queue::lane* job_queue::lane_for(const caf::resumable& job) {
  if (!may_be_lent(job))
    return nullptr;
  const auto here = std::this_thread::get_id();
  const auto own =
      std::find_if(lanes_.begin(), lanes_.end(), [here](const lane& l) { return l.thread == here; });
  if (own != lanes_.end())
    return is_paused(*own) ? nullptr : &*own;
  if (running_ > 0)
    return nullptr;
  auto& next = lanes_[next_lane_++ % lanes_.size()];
  return next.late || is_paused(next) ? nullptr : &next;
}

// For what comes of a job that a thread of the scheduler has taken over: a lane that keeps up has the data of its agents at
// hand. One that sleeps is not woken for what the caller does itself right away.
job_queue::lane* job_queue::lane_that_goes_on(const caf::resumable& job) {
  if (!may_be_lent(job) || lent_ >= left_to_lanes)
    return nullptr;
  lane* best = nullptr;
  for (auto& l : lanes_)
    if ((l.called || !jobs_.empty()) && !l.late && !is_paused(l) &&
        (best == nullptr || l.jobs.size() < best->jobs.size()))
      best = &l;
  return best;
}

// Without lane it is for the scheduler's threads.
void job_queue::place(caf::resumable* job, lane* to) {
  if (to != nullptr)
    put(*to, job);
  else
    jobs_.push_back(job);
  busy_ = true;
}

void job_queue::put(lane& to, caf::resumable* job) {
  if (to.jobs.empty())
    to.took = true; // its patience begins with this one
  to.jobs.push_back(job);
  ++lent_;
  if (std::exchange(to.called, true))
    return;
  ++lanes_called_;
  to.call();
}

void job_queue::give_back(lane& from) {
  jobs_.insert(jobs_.end(), from.jobs.begin(), from.jobs.end());
  lent_ -= from.jobs.size();
  from.jobs.clear();
}

// Whoever sleeps is to be notified when it is true.
bool job_queue::calls_for_work() {
  if (sleeping_ == 0)
    return false;
  const bool many = jobs_.size() > std::min(running_, max_left_waiting);
  const bool many_lent = lent_ > max_left_to_lanes && running_ + lanes_called_ < threads_;
  if (!many && !many_lent)
    return false;
  --sleeping_;
  ++running_;
  ++to_work_;
  return true;
}

// Likewise. Lanes alone are looked at less often.
bool job_queue::calls_for_watch() {
  if (sleeping_ == 0 || (jobs_.empty() && lent_ == 0))
    return false;
  const bool often = !jobs_.empty();
  if (watched_ && (watched_often_ || !often))
    return false;
  begin_watch(often);
  watch_called_ = true;
  return true;
}

void job_queue::begin_watch(bool often) {
  watched_ = true;
  watched_often_ = often;
  ++watch_;
}

void job_queue::add(caf::resumable* job) {
  {
    std::lock_guard lock{mutex_};
    place(job, lane_that_goes_on(*job));
    if (!calls_for_work() && !calls_for_watch())
      return;
  }
  called_.notify_one();
}

void job_queue::add_from_outside(caf::resumable* job) {
  std::lock_guard lock{mutex_};
  place(job, lane_for(*job));
  if (calls_for_work() || calls_for_watch())
    called_.notify_one();
}

caf::resumable* job_queue::take(bool first) {
  std::unique_lock lock{mutex_};
  if (first)
    ++running_;
  while (jobs_.empty() && lent_ <= left_to_lanes && !closed_)
    sleep(lock);
  look_at_lanes();
  auto* job = steal();
  if (job == nullptr)
    return nullptr;
  // Who has watched may have come here; what still waits is not left to those who run.
  const bool calls = calls_for_work() || calls_for_watch();
  lock.unlock();
  if (calls)
    called_.notify_one();
  return job;
}

caf::resumable* job_queue::try_take() {
  std::lock_guard lock{mutex_};
  return steal();
}

// The next job of the scheduler's threads, else the oldest of a lane; null when there is none.
caf::resumable* job_queue::steal() {
  auto* from = &jobs_;
  if (from->empty()) {
    auto found = std::find_if(lanes_.begin(), lanes_.end(), [](const lane& l) { return !l.jobs.empty(); });
    if (found == lanes_.end())
      return nullptr;
    from = &found->jobs;
    --lent_;
  }
  auto* job = from->front();
  from->pop_front();
  return job;
}

void job_queue::close() {
  std::lock_guard lock{mutex_};
  closed_ = true;
  called_.notify_all();
}

// While all threads run nobody watches.
void job_queue::look_at_lanes() {
  if (lent_ == 0)
    return;
  if (const auto now = clock::now(); now - looked_ >= lane_patience) {
    looked_ = now;
    static_cast<void>(look_locked(lane_patience / 2));
  }
}

bool job_queue::look(std::chrono::microseconds since_last) {
  std::lock_guard lock{mutex_};
  return look_locked(since_last);
}

bool job_queue::look_locked(std::chrono::microseconds since_last) {
  for (auto& l : lanes_) {
    l.still =
        std::exchange(l.took, false) || l.jobs.empty() ? std::chrono::microseconds{0} : l.still + since_last;
    if (l.still < lane_patience)
      continue;
    l.late = true;
    give_back(l);
  }
  return !jobs_.empty();
}

// Ends when the thread counts as running again.
void job_queue::sleep(std::unique_lock<std::mutex>& lock) {
  --running_;
  ++sleeping_;
  std::uint64_t watch = 0; // of this thread; it watches while that is the latest
  if (!watched_ && running_ + lanes_called_ > 0) {
    begin_watch(running_ > 0);
    watch = watch_;
  }
  for (;;) {
    if (to_work_ > 0) {
      --to_work_;
      break;
    }
    if (closed_) {
      --sleeping_;
      ++running_;
      break;
    }
    if (std::exchange(watch_called_, false))
      watch = watch_;
    if (watch != watch_ || !watched_) {
      called_.wait(lock);
      continue;
    }
    const auto period = watched_often_ ? look_again : lane_patience;
    if (called_.wait_for(lock, period) == std::cv_status::no_timeout || to_work_ > 0 || watch != watch_)
      continue;
    if (look_locked(period)) {
      --sleeping_;
      ++running_;
      break;
    }
    if (!std::exchange(busy_, false) && lent_ == 0)
      watched_ = false; // the next job calls for one
  }
  if (watch == watch_)
    watched_ = false;
}

void job_queue::expect_threads(std::size_t threads) {
  std::lock_guard lock{mutex_};
  threads_ = threads;
}

std::size_t job_queue::open_lane(std::thread::id of, std::function<void()> call) {
  std::lock_guard lock{mutex_};
  auto& fresh = lanes_.emplace_back();
  fresh.thread = of;
  fresh.call = std::move(call);
  return lanes_.size() - 1;
}

caf::resumable* job_queue::take_lent(std::size_t number) {
  std::lock_guard lock{mutex_};
  auto& from = lanes_[number];
  from.late = false;
  if (from.jobs.empty()) {
    from.called = false;
    --lanes_called_;
    return nullptr;
  }
  from.took = true;
  --lent_;
  auto* job = from.jobs.front();
  from.jobs.pop_front();
  return job;
}

void job_queue::add_lent(std::size_t number, caf::resumable* job) {
  {
    std::lock_guard lock{mutex_};
    auto& own = lanes_[number];
    place(job, may_be_lent(*job) && !is_paused(own) ? &own : nullptr);
    if (!calls_for_work() && !calls_for_watch())
      return;
  }
  called_.notify_one();
}

void job_queue::pause_lane(std::size_t number, clock::time_point until) {
  std::lock_guard lock{mutex_};
  lanes_[number].paused_until = until;
  give_back(lanes_[number]);
  busy_ = true;
  if (calls_for_work() || calls_for_watch())
    called_.notify_one();
}

void job_queue::close_lanes() {
  std::lock_guard lock{mutex_};
  lanes_closed_ = true;
  for (auto& l : lanes_)
    give_back(l);
  busy_ = true;
  if (calls_for_work() || calls_for_watch())
    called_.notify_one();
}

} // namespace troupe::actors
