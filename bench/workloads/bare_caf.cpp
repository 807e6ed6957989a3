// SPDX-License-Identifier: Apache-2.0
#include "bare_caf.hpp"

#include <troupe/actors/caf.hpp>

#include <chrono>
#include <future>
#include <string>
#include <utility>

#include "measure.hpp"

namespace troupe::bench {
namespace {

struct child_state {
  std::string task;
};

caf::behavior child(caf::stateful_actor<child_state>* self) {
  return {[self](std::string task) {
    self->state.task = std::move(task);
    self->quit();
    return static_cast<std::int32_t>(self->state.task.size());
  }};
}

struct parent_state {
  std::uint64_t started = 0;
  std::uint64_t ended = 0;
};

void start_next(caf::stateful_actor<parent_state>* self, std::uint64_t n) {
  if (self->state.started == n)
    return;
  ++self->state.started;
  auto next = self->spawn(child);
  self->monitor(next);
  self->request(next, caf::timespan{std::chrono::minutes{10}}, std::string{"summarise the file"})
      .then([](std::int32_t) {});
}

caf::behavior parent(caf::stateful_actor<parent_state>* self, std::uint64_t n, std::uint32_t at_once,
                     std::promise<void>* done) {
  self->set_down_handler([self, n, done](caf::down_msg&) {
    if (++self->state.ended == n) {
      done->set_value();
      self->quit();
    } else {
      start_next(self, n);
    }
  });
  for (std::uint32_t i = 0; i < at_once; ++i)
    start_next(self, n);
  return {[](int) {}};
}

} // namespace

double bare_one_shots_per_s(std::uint64_t n, std::uint32_t at_once) {
  actors::system_config config{{}};
  caf::actor_system system{config};
  const actors::outside_thread visit;
  std::promise<void> done;
  auto ended = done.get_future();
  const stopwatch watch;
  system.spawn(parent, n, at_once, &done);
  ended.wait();
  return static_cast<double>(n) / watch.wall();
}

} // namespace troupe::bench
