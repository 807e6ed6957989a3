// The live tree that comes of events, through a collector as a session has one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity_collector.hpp>
#include <troupe/runtime/activity_tree.hpp>

#include <utility>
#include <vector>

namespace troupe::test {

// Takes the batches of one session one by one.
inline activity_tree tree_of(const session_id& session, const std::vector<event_batch_ptr>& log) {
  activity_collector collector{session};
  activity_tree tree;
  for (const auto& batch : log) {
    collector.add(batch);
    if (auto delta = collector.take())
      tree.merge(std::move(*delta));
  }
  return tree;
}

} // namespace troupe::test
