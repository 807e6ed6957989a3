// A runtime that has done a little of everything, for tests of what tells of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/activity_json.hpp>

#include <map>
#include <string>

namespace troupe::test {

inline activity_vitals some_vitals() {
  activity_vitals v;
  v.totals.events[static_cast<std::size_t>(event_kind::tool_call)] = 7;
  v.totals.started = 5;
  v.totals.completed = 3;
  v.totals.failed = 1;
  v.agents[0] = 1;
  v.sum.turns = 9;
  v.sessions = 2;
  v.tools["read_file"].calls = 4;
  v.tools["read_file"].errors = 1;
  v.tools["read_file"].time.add(1'000);
  v.tools["read_file"].time.add(1'500);
  v.tools["read_file"].time.add(600'000'000);
  v.tools[""].calls = 2;
  v.tools["odd\"name\\with\nlines"].calls = 1;
  v.agent_time.add(2'000'000);
  v.actors["supervisor"].mailbox_wait.add(3);
  v.actors["supervisor"].handler_time.add(12);
  v.events_dropped = 6;
  return v;
}

inline std::map<std::string, model_listing> some_models() {
  std::map<std::string, model_listing> models;
  auto& s = models["fast"].status;
  s.counts.calls = 12;
  s.counts.completed = 9;
  s.counts.failed = 2;
  s.counts.rate_limited = 1;
  s.counts.retries = 2;
  s.usage = {1000, 400, 300, 100, 2'500'000'000};
  s.latency.add(40'000);
  s.first_token.add(9'000);
  s.queue_wait.add(1);
  s.breaker = breaker_state::half_open;
  s.in_use = 1;
  s.waiting = 3;
  models["scenario"];
  return models;
}

} // namespace troupe::test
