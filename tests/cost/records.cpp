// What becomes of events: JSON, the store, the live tree.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/memory_store.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cost/workloads.hpp"
#include "support/events.hpp"
#include "support/live_tree.hpp"

namespace troupe::cost {
namespace {

using namespace troupe::test;

constexpr agent_number children = 50;

work events_to_json() {
  return [log = log_of_children(session_id{"cost"}, children)] {
    for (const auto& batch : log)
      for (const auto& e : *batch)
        REQUIRE_FALSE(nlohmann::json(e).dump().empty());
  };
}

work events_to_store() {
  return [log = log_of_children(session_id{"cost"}, children)] {
    auto store = make_memory_store();
    const session_id session{"cost"};
    const auto lease = store->open(session, {});
    REQUIRE(lease);
    for (const auto& batch : log)
      REQUIRE(store->append_one({session, lease->epoch, batch}));
  };
}

work events_to_tree() {
  return [log = log_of_children(session_id{"cost"}, children)] {
    REQUIRE(tree_of(session_id{"cost"}, log).totals().completed == children);
  };
}

} // namespace

void add_records(workloads& to) {
  to["records: 350 events to JSON"] = events_to_json;
  to["records: 50 batches to the store"] = events_to_store;
  to["records: 50 batches to the tree"] = events_to_tree;
}

} // namespace troupe::cost
