// What becomes of events: JSON, the store, the live tree.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/event.hpp>
#include <troupe/runtime/activity_tree.hpp>
#include <troupe/runtime/stores/memory_store.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <utility>
#include <vector>

#include "cost/workloads.hpp"

namespace troupe::cost {
namespace {

constexpr agent_number children = 50;

event make_event(const event_origin_ptr& origin, std::uint64_t& seq, event_body body) {
  event e;
  e.seq = ++seq;
  e.index = static_cast<std::uint32_t>(seq);
  e.origin = origin;
  e.body = std::move(body);
  return e;
}

// The log of children of three turns, a batch for each.
std::vector<event_batch_ptr> make_log() {
  std::vector<event_batch_ptr> log;
  std::uint64_t seq = 0;
  for (agent_number number = 1; number <= children; ++number) {
    auto origin = std::make_shared<event_origin>();
    origin->session = session_id{"cost"};
    origin->run = make_run_id(origin->session, 1);
    origin->agent = make_agent_id(origin->session, number);
    origin->number = number;
    origin->author = "child";
    origin->branch = "root.child";
    event_batch batch;
    batch.push_back(make_event(origin, seq, agent_started_body{"child", "prebuilt", "fast", 0, false}));
    for (std::uint32_t turn = 1; turn < 3; ++turn) {
      const auto call = make_call_id(number, turn, 0);
      batch.push_back(make_event(origin, seq, tool_call_body{turn, call, "lookup", R"({"i":1})", {}}));
      batch.push_back(make_event(origin, seq, tool_result_body{call, "lookup", "v", false, {}}));
    }
    batch.push_back(make_event(origin, seq, model_text_body{3, "child-ok", {}}));
    batch.push_back(make_event(origin, seq, agent_ended_body{outcome::make_completed("child-ok"), 3}));
    log.push_back(std::make_shared<const event_batch>(std::move(batch)));
  }
  return log;
}

work events_to_json() {
  return [log = make_log()] {
    for (const auto& batch : log)
      for (const auto& e : *batch)
        REQUIRE_FALSE(nlohmann::json(e).dump().empty());
  };
}

work events_to_store() {
  return [log = make_log()] {
    auto store = make_memory_store();
    const session_id session{"cost"};
    const auto lease = store->open(session, {});
    REQUIRE(lease);
    for (const auto& batch : log)
      REQUIRE(store->append_one({session, lease->epoch, batch}));
  };
}

work events_to_tree() {
  return [log = make_log()] {
    activity_collector collector{session_id{"cost"}};
    activity_tree tree;
    for (const auto& batch : log) {
      collector.add(batch);
      if (const auto delta = collector.take())
        tree.merge(std::move(*delta));
    }
    REQUIRE(tree.totals().completed == children);
  };
}

} // namespace

void add_records(workloads& to) {
  to["records: 350 events to JSON"] = events_to_json;
  to["records: 50 batches to the store"] = events_to_store;
  to["records: 50 batches to the tree"] = events_to_tree;
}

} // namespace troupe::cost
