// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/event_ring.hpp>

#include <doctest/doctest.h>

#include "support/agent_log.hpp"

using namespace troupe;
using namespace troupe::test;

TEST_CASE("a reader of the ring gets every event that fits, and is told of the others") {
  agent_log log;
  event_ring ring{100, 1'000'000};
  event_query query;
  query.after = ring.read(query).position; // from now on
  for (int i = 0; i < 150; ++i)
    ring.push(std::make_shared<const event>(log.make(static_cast<agent_number>(i % 2), call("c"))));
  query.max_events = 30;
  query.agent = 1;
  query.session = log.session();
  std::uint64_t seen = 0;
  std::uint64_t missed = 0;
  std::uint64_t last = 0;
  for (bool more = true; more;) {
    const auto page = ring.read(query);
    for (const auto& e : page.events) {
      CHECK(e->seq > last);
      last = e->seq;
    }
    seen += page.events.size();
    missed += page.missed;
    query.after = page.position;
    more = page.more;
  }
  CHECK(seen == 50);
  CHECK(missed == 50);
  CHECK(last == 150);
  ring.skip(7);
  CHECK(ring.read(query).missed == 7);
  query.kinds.reset();
  CHECK(ring.read(query).events.empty());
}

TEST_CASE("the ring's bytes are bounded, and one event that is too large leaves it empty") {
  agent_log log;
  event_ring ring{1000, 50'000};
  for (int i = 0; i < 100; ++i)
    ring.push(std::make_shared<const event>(log.make(0, model_text_body{0, std::string(2000, 'x'), {}})));
  CHECK(ring.bytes() <= 50'000);
  CHECK(ring.size() > 10);
  ring.push(std::make_shared<const event>(log.make(0, model_text_body{0, std::string(100'000, 'x'), {}})));
  CHECK(ring.size() == 0);
  CHECK(ring.bytes() == 0);
}
