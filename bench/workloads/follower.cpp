// SPDX-License-Identifier: Apache-2.0
#include "follower.hpp"

#include <troupe/runtime/activity_json.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <chrono>
#include <future>
#include <utility>

namespace troupe::bench {
namespace {

constexpr std::chrono::milliseconds between{100};
constexpr int polls_a_vitals = 10;

// The answer of a question to the engine.
template <class Answer, class Ask>
std::shared_ptr<const Answer> answer_of(Ask ask) {
  std::promise<std::shared_ptr<const Answer>> promise;
  auto coming = promise.get_future();
  ask([&promise](std::shared_ptr<const Answer> told) { promise.set_value(std::move(told)); });
  return coming.get();
}

} // namespace

follower::follower(engine& of)
    : engine_(of), thread_([this](const std::stop_token& stop) { follow(stop); }) {}

follower::~follower() {
  stop();
}

std::uint64_t follower::stop() {
  thread_.request_stop();
  if (thread_.joinable())
    thread_.join();
  return bytes_;
}

void follower::follow(const std::stop_token& stop) {
  activity_query tree;
  event_query events;
  for (int poll = 0; !stop.stop_requested(); ++poll) {
    if (auto told = answer_of<activity_changes>([&](auto done) { engine_.changes(tree, std::move(done)); })) {
      tree.since = told->version;
      bytes_ += shown_changes(*told, tree, to_text(told->version), {}).size();
      if (!tree.session && !told->sessions.empty()) {
        tree.session = told->sessions.front().session;
        tree.agent = 0;
        tree.since = {};
      }
    }
    if (auto told = answer_of<recent_events>([&](auto done) { engine_.recent(events, std::move(done)); })) {
      events.after = told->position;
      for (const auto& e : told->events)
        bytes_ += dump_json(shown_json(*e)).size();
    }
    if (poll % polls_a_vitals == 0)
      if (auto told = answer_of<activity_vitals>([&](auto done) { engine_.vitals(std::move(done)); })) {
        std::map<std::string, model_listing> models;
        for (auto& [id, status] : engine_.models())
          models[id].status = status;
        bytes_ += shown_vitals(*told, models, {}).size();
      }
    std::this_thread::sleep_for(between);
  }
}

} // namespace troupe::bench
