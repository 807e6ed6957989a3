// What the memory store does beyond the contract of all stores: it is bounded.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/memory_store.hpp>

#include <doctest/doctest.h>

#include "support/store_events.hpp"

using namespace troupe;
using namespace troupe::test;

TEST_CASE("beyond max_events the inner events of ended children go, oldest child first") {
  auto store = make_memory_store({.max_events = 10});
  CHECK(store->immediate());
  log_writer log{*store, "s"};
  REQUIRE(log.append(texts(2)));
  for (agent_number child : {1U, 2U, 3U}) {
    REQUIRE(log.append(texts(3), child));
    REQUIRE(log.append({agent_ended_body{}}, child));
  }
  auto page = store->read(log.session(), 0, 100);
  REQUIRE(page);
  CHECK(page->dropped);
  CHECK(page->last_seq == 14);
  CHECK(page->last_agent == 3);
  std::vector<std::uint64_t> firsts;
  for (const auto& batch : page->batches)
    firsts.push_back(batch->front().seq);
  CHECK(firsts == std::vector<std::uint64_t>{1, 7, 10, 11, 14});
  CHECK_FALSE(store->read(log.session(), 6, 100)->dropped);
  CHECK(log.append(texts(1)));
}

TEST_CASE("of very many ended children the newest are kept, and each of the others goes once") {
  constexpr agent_number children = 1000;
  auto store = make_memory_store({.max_events = 10});
  log_writer log{*store, "s"};
  REQUIRE(log.append(texts(1)));
  for (agent_number child = 1; child <= children; ++child)
    REQUIRE(log.append({agent_ended_body{}}, child));
  auto page = store->read(log.session(), 0, 10'000);
  REQUIRE(page);
  std::vector<agent_number> kept;
  for (const auto& batch : page->batches)
    kept.push_back(batch->front().origin->number);
  CHECK(kept == std::vector<agent_number>{0, 992, 993, 994, 995, 996, 997, 998, 999, 1000});
}
