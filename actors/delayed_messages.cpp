// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/delayed_messages.hpp>

#include <caf/detail/set_thread_name.hpp>

#include <utility>
#include <vector>

namespace troupe::actors {

void delayed_messages::start() {
  stopped_ = false;
  thread_ = std::thread{[this] {
    caf::detail::set_thread_name("troupe.delays");
    run();
  }};
}

void delayed_messages::stop() {
  {
    std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable())
    thread_.join();
  drop_all();
}

void delayed_messages::add(time_point at, const caf::strong_actor_ptr& receiver,
                           caf::mailbox_element_ptr content) {
  if (content->sender == receiver)
    content->sender = nullptr; // nobody answers itself, and it would keep itself
  {
    std::lock_guard lock{mutex_};
    if (stopped_)
      return;
    auto place =
        messages_.emplace(at, message{caf::actor_cast<caf::weak_actor_ptr>(receiver), std::move(content)});
    by_receiver_.emplace(receiver->id(), place);
    if (place != messages_.begin())
      return;
  }
  changed_.notify_one();
}

delayed_messages::schedule::node_type delayed_messages::take(schedule::iterator at) {
  auto [first, last] = by_receiver_.equal_range(at->second.receiver->id());
  while (first != last && first->second != at)
    ++first;
  if (first != last)
    by_receiver_.erase(first);
  return messages_.extract(at);
}

void delayed_messages::drop_for(caf::actor_id receiver) {
  std::vector<schedule::node_type> dropped;
  std::lock_guard lock{mutex_};
  auto [first, last] = by_receiver_.equal_range(receiver);
  for (auto i = first; i != last; ++i)
    dropped.push_back(messages_.extract(i->second));
  by_receiver_.erase(first, last);
}

void delayed_messages::drop_all() {
  schedule dropped;
  std::lock_guard lock{mutex_};
  by_receiver_.clear();
  dropped.swap(messages_);
}

void delayed_messages::run() {
  std::unique_lock lock{mutex_};
  while (!stopped_) {
    if (messages_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto at = messages_.begin()->first;
    if (at > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, at);
      continue;
    }
    auto due = take(messages_.begin());
    lock.unlock();
    if (auto receiver = caf::actor_cast<caf::strong_actor_ptr>(due.mapped().receiver))
      receiver->enqueue(std::move(due.mapped().content), nullptr);
    due = {};
    lock.lock();
  }
}

} // namespace troupe::actors
