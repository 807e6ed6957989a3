// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/a2a_stream.hpp>

#include <utility>

namespace troupe::net {

void a2a_stream::start(stream_sink& sink) {
  sink_ = &sink;
  task_->on_change([weak = weak_from_this(), gate = gate_] {
    gate->post([weak] {
      if (auto self = weak.lock(); self != nullptr && self->idle_)
        self->say_next();
    });
    return !weak.expired();
  });
  say_next();
}

void a2a_stream::written() {
  say_next();
}

bool a2a_stream::ends(const a2a::stream_item& item) const {
  if (const auto* update = std::get_if<a2a::status_update>(&item))
    return a2a::is_terminal(update->status.state) || a2a::is_interrupted(update->status.state);
  const auto* task = std::get_if<a2a::task>(&item);
  return task != nullptr &&
         (a2a::is_terminal(task->status.state) || (sent_ && a2a::is_interrupted(task->status.state)));
}

void a2a_stream::say_next() {
  idle_ = false;
  if (sink_ == nullptr)
    return;
  if (ended_)
    return sink_->finish();
  if (waiting_.empty())
    for (auto& item : task_->updates(from_))
      waiting_.push_back(std::move(item));
  if (waiting_.empty()) {
    idle_ = true;
    return;
  }
  const auto item = std::move(waiting_.front());
  waiting_.pop_front();
  ended_ = ends(item);
  sink_->write({a2a_event(form_, item), {}});
}

} // namespace troupe::net
