// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/dispatcher.hpp>

#include <exception>
#include <utility>

namespace troupe {

dispatcher::dispatcher(log_sink log) : log_(std::move(log)), thread_([this] { work(); }) {}

dispatcher::~dispatcher() {
  {
    std::lock_guard lock{shared_->mutex};
    shared_->closed = true;
  }
  shared_->wake.notify_all();
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
  // A feed and its follower hold each other until the feed has ended; here they let go.
  for (const auto& weak : shared_->all)
    if (auto f = weak.lock())
      f->feed->on_ready(nullptr);
}

void dispatcher::follow(std::shared_ptr<run_feed> feed, std::function<void(const event&)> callback) {
  auto f = std::make_shared<follower>(follower{feed, std::move(callback)});
  {
    std::lock_guard lock{shared_->mutex};
    std::erase_if(shared_->all, [](const auto& weak) { return weak.expired(); });
    shared_->all.push_back(f);
  }
  feed->on_ready([state = shared_, f] {
    {
      std::lock_guard lock{state->mutex};
      if (state->closed || std::exchange(f->queued, true))
        return;
      state->ready.push_back(f);
    }
    state->wake.notify_one();
  });
}

void dispatcher::work() {
  std::unique_lock lock{shared_->mutex};
  for (;;) {
    shared_->wake.wait(lock, [this] { return shared_->closed || !shared_->ready.empty(); });
    if (shared_->closed)
      return;
    auto next = std::move(shared_->ready.front());
    shared_->ready.pop_front();
    next->queued = false;
    lock.unlock();
    deliver(*next);
    lock.lock();
  }
}

void dispatcher::deliver(follower& f) {
  while (auto batch = f.feed->next(std::chrono::steady_clock::now())) {
    for (const auto& e : **batch) {
      if (e.run() != f.feed->run())
        continue;
      try {
        f.callback(e);
      } catch (const std::exception& failure) {
        if (log_)
          log_(log_level::error, std::string{"An event callback threw: "} + failure.what());
      } catch (...) {
        if (log_)
          log_(log_level::error, "An event callback threw something unknown.");
      }
    }
  }
  if (f.feed->drained())
    f.feed->on_ready(nullptr);
}

} // namespace troupe
