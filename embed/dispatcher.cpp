// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/dispatcher.hpp>

#include <exception>
#include <string>
#include <utility>

namespace troupe {

dispatcher::dispatcher(log_sink log) {
  shared_->log = std::move(log);
  std::thread thread{[state = shared_] { work(state); }};
  thread_ = thread.get_id();
  thread.detach();
}

dispatcher::~dispatcher() {
  std::vector<std::weak_ptr<follower>> all;
  {
    std::unique_lock lock{shared_->mutex};
    shared_->closed = true;
    shared_->wake.notify_all();
    if (std::this_thread::get_id() != thread_)
      shared_->over.wait_for(lock, drain_limit, [this] { return shared_->ended; });
    all = shared_->all;
  }
  // A feed and its follower hold each other until the feed has ended; here they let go.
  for (const auto& weak : all)
    if (auto f = weak.lock())
      f->feed->on_ready(nullptr);
}

void dispatcher::post(std::function<void()> task) {
  {
    std::lock_guard lock{shared_->mutex};
    if (shared_->ended)
      return;
    shared_->posted.push_back(std::move(task));
  }
  shared_->wake.notify_one();
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
      if (state->ended || std::exchange(f->queued, true))
        return;
      state->ready.push_back(f);
    }
    state->wake.notify_one();
  });
}

void dispatcher::work(const std::shared_ptr<shared>& state) {
  std::unique_lock lock{state->mutex};
  for (;;) {
    state->wake.wait(lock, [&] { return state->closed || !state->ready.empty() || !state->posted.empty(); });
    if (!state->posted.empty()) {
      const auto task = std::move(state->posted.front());
      state->posted.pop_front();
      lock.unlock();
      call(*state, task);
      lock.lock();
      continue;
    }
    if (state->ready.empty())
      break; // closed, and all has been delivered
    auto next = std::move(state->ready.front());
    state->ready.pop_front();
    next->queued = false;
    lock.unlock();
    deliver(*state, *next);
    next.reset();
    lock.lock();
  }
  state->ended = true;
  state->over.notify_all();
}

void dispatcher::deliver(const shared& state, follower& f) {
  while (auto batch = f.feed->next(std::chrono::steady_clock::now())) {
    for (const auto& e : **batch) {
      if (e.run() != f.feed->run())
        continue;
      call(state, [&f, &e] { f.callback(e); });
    }
  }
  if (f.feed->drained())
    f.feed->on_ready(nullptr);
}

void dispatcher::call(const shared& state, const std::function<void()>& callback) {
  try {
    callback();
  } catch (const std::exception& failure) {
    if (state.log)
      state.log(log_level::error, std::string{"An event callback threw: "} + failure.what());
  } catch (...) {
    if (state.log)
      state.log(log_level::error, "An event callback threw something unknown.");
  }
}

} // namespace troupe
