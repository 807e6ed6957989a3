// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/run_feed.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t store_page = 1024;

} // namespace

run_feed::run_feed(session_id session, std::shared_ptr<session_store> store, run_feed_options options)
    : session_(std::move(session)), store_(std::move(store)), options_(options) {}

void run_feed::begin(const run_id& run, std::uint64_t first_seq) {
  std::function<void()> ready;
  {
    std::lock_guard lock{mutex_};
    run_ = run;
    taken_ = pushed_ = first_seq - 1;
    ready = ready_;
  }
  if (ready)
    ready();
}

void run_feed::push(const event_batch_ptr& batch) {
  std::function<void()> ready;
  {
    std::lock_guard lock{mutex_};
    pushed_ = batch->back().seq;
    if (!lagging_ && (queue_.empty() || queued_ + batch->size() <= options_.max_queued_events)) {
      queue_.push_back(batch);
      queued_ += batch->size();
    } else {
      lagging_ = true;
    }
    ready = ready_;
  }
  changed_.notify_all();
  if (ready)
    ready();
}

void run_feed::finish(outcome result) {
  std::function<void()> ready;
  {
    std::lock_guard lock{mutex_};
    if (result_)
      return;
    result_ = std::move(result);
    ready = ready_;
  }
  changed_.notify_all();
  ended_.notify_all();
  if (ready)
    ready();
}

std::optional<event_batch_ptr> run_feed::next(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock{mutex_};
  changed_.wait_until(lock, deadline, [this] { return taken_ < pushed_ || result_.has_value(); });
  return take(lock);
}

std::optional<event_batch_ptr> run_feed::take(std::unique_lock<std::mutex>& lock) {
  if (!queue_.empty()) {
    auto batch = std::move(queue_.front());
    queue_.pop_front();
    queued_ -= batch->size();
    taken_ = batch->back().seq;
    return batch;
  }
  if (taken_ < pushed_)
    return take_from_store(lock);
  return std::nullopt;
}

std::optional<event_batch_ptr> run_feed::take_from_store(std::unique_lock<std::mutex>& lock) {
  while (taken_ < pushed_) {
    const auto after = taken_;
    const auto target = pushed_;
    lock.unlock();
    auto page = store_->read(session_, after, store_page);
    lock.lock();
    if (!page || page->batches.empty()) {
      missed_ += target - taken_;
      taken_ = target;
      lagging_ = taken_ < pushed_;
      continue;
    }
    auto& batches = page->batches;
    auto first = batches.front()->front().seq;
    if (first > taken_ + 1)
      missed_ += first - taken_ - 1;
    for (std::size_t i = 1; i < batches.size(); ++i) {
      auto gap = batches[i]->front().seq - batches[i - 1]->back().seq - 1;
      missed_ += gap;
    }
    auto head = std::move(batches.front());
    taken_ = head->back().seq;
    for (std::size_t i = 1; i < batches.size(); ++i) {
      queued_ += batches[i]->size();
      queue_.push_back(std::move(batches[i]));
    }
    const auto last = queue_.empty() ? taken_ : queue_.back()->back().seq;
    lagging_ = last < pushed_;
    return head;
  }
  return std::nullopt;
}

bool run_feed::drained() const {
  std::lock_guard lock{mutex_};
  return result_.has_value() && taken_ >= pushed_ && queue_.empty();
}

std::optional<outcome> run_feed::wait(std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock{mutex_};
  ended_.wait_until(lock, deadline, [this] { return result_.has_value(); });
  return result_;
}

std::optional<outcome> run_feed::result() const {
  std::lock_guard lock{mutex_};
  return result_;
}

run_id run_feed::run() const {
  std::lock_guard lock{mutex_};
  return run_;
}

std::uint64_t run_feed::missed() const {
  std::lock_guard lock{mutex_};
  return missed_;
}

void run_feed::on_ready(std::function<void()> callback) {
  {
    std::lock_guard lock{mutex_};
    ready_ = callback;
  }
  if (callback)
    callback();
}

run_feed_writer& run_feed_writer::operator=(run_feed_writer&& other) noexcept {
  if (this != &other) {
    abandon();
    feed_ = std::move(other.feed_);
  }
  return *this;
}

run_feed_writer::~run_feed_writer() {
  abandon();
}

void run_feed_writer::abandon() noexcept {
  if (feed_ != nullptr)
    feed_->finish(outcome::make_failed(errc::crashed, "The session's supervisor is gone."));
  feed_.reset();
}

} // namespace troupe
