// Drives a turn machine by hand: keeps its state, its log and its commands, and checks after every input that the fold
// of the log is the live state.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/turn_machine.hpp>

#include <doctest/doctest.h>

#include <vector>

#include "support/events.hpp"
#include "support/profiles.hpp"

namespace troupe::test {

class machine_driver {
 public:
  explicit machine_driver(agent_profile_ptr profile, agent_number number = 0) : profile_(std::move(profile)) {
    state.number = number;
    origin_ = make_origin(session_id{"s"}, number, profile_->name, profile_->name);
  }

  // Feeds an input; gives the commands that follow. Calls that only need durability get it at once.
  std::vector<agent_command> feed(const agent_input& in) {
    auto commands = one(in);
    std::vector<agent_command> all;
    for (auto& c : commands) {
      if (auto* wait = std::get_if<command::await_durability>(&c)) {
        for (auto& more : one(input::durable{wait->calls}))
          all.push_back(std::move(more));
      } else {
        all.push_back(std::move(c));
      }
    }
    return all;
  }

  std::vector<agent_command> start(std::string request = "go") {
    return feed(input::start{say(std::move(request)), profile_->kind, 0, false, {}});
  }

  // Events of one kind.
  template <class T>
  std::vector<T> events() const {
    std::vector<T> found;
    for (const auto& e : log)
      if (const auto* body = e.template as<T>())
        found.push_back(*body);
    return found;
  }

  template <class T>
  static std::vector<T> of(const std::vector<agent_command>& commands) {
    std::vector<T> found;
    for (const auto& c : commands)
      if (const auto* x = std::get_if<T>(&c))
        found.push_back(*x);
    return found;
  }

  agent_state state;
  std::vector<event> log;
  bool answerable = false;

 private:
  std::vector<agent_command> one(const agent_input& in) {
    auto decided = decide(*profile_, state, in, {answerable});
    for (auto& e : make_events(decided, origin_, state, timestamp{})) {
      state = apply(std::move(state), e);
      log.push_back(e);
    }
    REQUIRE(fold(state.number, log) == state);
    return std::move(decided.commands);
  }

  agent_profile_ptr profile_;
  event_origin_ptr origin_;
};

} // namespace troupe::test
