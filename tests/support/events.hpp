// Events as an agent would make them: who they are of, batches of them, and the log of a run.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

// In the first run of the session. `branch` is the author's alone for a root.
inline std::shared_ptr<event_origin> make_origin(const session_id& session, agent_number number,
                                                 std::string author, std::string branch) {
  auto origin = std::make_shared<event_origin>();
  origin->session = session;
  origin->run = make_run_id(session, 1);
  origin->agent = make_agent_id(session, number);
  origin->number = number;
  origin->author = std::move(author);
  origin->branch = std::move(branch);
  return origin;
}

// Dense from `first_seq`, with times and indexes that tell the events apart.
inline event_batch_ptr make_batch(const event_origin_ptr& origin, std::uint64_t first_seq,
                                  std::vector<event_body> bodies) {
  auto batch = std::make_shared<event_batch>();
  for (auto& body : bodies) {
    const auto seq = first_seq + batch->size();
    batch->push_back({seq,
                      static_cast<std::uint32_t>(seq),
                      timestamp{std::chrono::microseconds{1'000'000 + seq}},
                      origin,
                      std::move(body),
                      {},
                      {}});
  }
  return batch;
}

// The log of children of three turns, of which two look something up: a batch of seven events for each.
inline std::vector<event_batch_ptr> log_of_children(const session_id& session, agent_number count) {
  std::vector<event_batch_ptr> log;
  std::uint64_t seq = 1;
  for (agent_number number = 1; number <= count; ++number) {
    std::vector<event_body> bodies;
    bodies.emplace_back(agent_started_body{"child", "prebuilt", "fast", 0, false});
    for (std::uint32_t turn = 1; turn < 3; ++turn) {
      const auto call = make_call_id(number, turn, 0);
      bodies.emplace_back(tool_call_body{turn, call, "lookup", R"({"i":1})", {}});
      bodies.emplace_back(tool_result_body{call, "lookup", "v", false, {}});
    }
    bodies.emplace_back(model_text_body{3, "child-ok", {}});
    bodies.emplace_back(agent_ended_body{outcome::make_completed("child-ok"), 3});
    log.push_back(make_batch(make_origin(session, number, "child", "root.child"), seq, std::move(bodies)));
    seq += log.back()->size();
  }
  return log;
}

} // namespace troupe::test
