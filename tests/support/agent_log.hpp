// Writes the log of one session as its agents would, for tests of what is made out of events.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/store_events.hpp"

namespace troupe::test {

class agent_log {
 public:
  explicit agent_log(std::string session = "s") : session_{std::move(session)} {}

  event make(agent_number number, event_body body) {
    event e;
    e.seq = ++seq_;
    e.time = timestamp{std::chrono::microseconds{++clock_ * 1000}};
    e.origin = origin(number);
    e.index = ++events_[number];
    e.body = std::move(body);
    return e;
  }

  event_batch_ptr batch(agent_number number, std::vector<event_body> bodies) {
    event_batch b;
    for (auto& body : bodies)
      b.push_back(make(number, std::move(body)));
    return std::make_shared<const event_batch>(std::move(b));
  }

  event_origin_ptr origin(agent_number number) {
    auto& o = origins_[number];
    if (o == nullptr)
      o = origin_of(session_, number);
    return o;
  }

  const session_id& session() const { return session_; }

 private:
  session_id session_;
  std::map<agent_number, event_origin_ptr> origins_;
  std::map<agent_number, std::uint32_t> events_;
  std::uint64_t seq_ = 0;
  std::int64_t clock_ = 0;
};

inline event_body started(agent_number parent = 0) {
  return agent_started_body{"worker", "spawned", "fast", parent, false};
}
inline event_body call(std::string id, std::uint32_t turn = 0) {
  return tool_call_body{turn, call_id{std::move(id)}, "lookup", R"({"path":"a.txt"})", {}};
}
inline event_body answered(std::string id, std::optional<errc> code = {}) {
  return tool_result_body{call_id{std::move(id)}, "lookup", "v", code.has_value(), code};
}
inline event_body ended(outcome o = outcome::make_completed("done")) {
  return agent_ended_body{std::move(o), 1};
}

} // namespace troupe::test
