// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/recent_items.hpp>

#include <doctest/doctest.h>

#include <random>

#include "support/agent_log.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

std::vector<activity_status> statuses(const recent_items& list) {
  std::vector<activity_status> all;
  for (const auto& item : list.items())
    all.push_back(item.status);
  return all;
}

constexpr auto running = activity_status::running;
constexpr auto completed = activity_status::completed;
constexpr auto failed = activity_status::error;

} // namespace

TEST_CASE("an item ends with its call's result, by id and not by name") {
  agent_log log;
  recent_items list;
  list.add(log.make(1, call("a")));
  list.add(log.make(1, call("b")));
  list.add(log.make(1, answered("b")));
  CHECK(statuses(list) == std::vector{running, completed});
  list.add(log.make(1, answered("a", errc::tool_failed)));
  CHECK(statuses(list) == std::vector{failed, completed});
  list.add(log.make(1, answered("a")));       // a second result changes nothing
  list.add(log.make(1, answered("unknown"))); // nor does that of a call that is not known
  CHECK(statuses(list) == std::vector{failed, completed});
}

TEST_CASE("what a person refused or cancelled is told apart from what failed") {
  agent_log log;
  recent_items list;
  list.add(log.make(1, call("a")));
  list.add(log.make(1, call("b")));
  list.add(log.make(1, answered("a", errc::denied)));
  list.add(log.make(1, answered("b", errc::cancelled)));
  CHECK(statuses(list) == std::vector{activity_status::cancelled, activity_status::cancelled});
}

TEST_CASE("an agent's end ends each of its items") {
  agent_log log;
  const std::vector<std::pair<outcome, activity_status>> ends = {
      {outcome::make_completed("x"), completed},
      {outcome::make_failed(errc::crashed, "x"), failed},
      {outcome::make_cancelled("user"), activity_status::cancelled},
  };
  for (const auto& [how, expected] : ends) {
    recent_items list;
    list.add(log.make(1, thought_body{0, "hm", {}}));
    list.add(log.make(1, call("a")));
    list.add(log.make(1, ended(how)));
    CHECK(statuses(list) == std::vector{completed, expected});
    CHECK(list.items().back().ended_at != timestamp{});
  }
}

TEST_CASE("running items are never dropped, of the others the newest stay") {
  agent_log log;
  recent_items list;
  for (int i = 0; i < 100; ++i)
    list.add(log.make(1, call("c" + std::to_string(i))));
  CHECK(list.items().size() == 100);
  for (int i = 99; i >= 20; --i)
    list.add(log.make(1, answered("c" + std::to_string(i))));
  CHECK(list.items().size() == 20 + recent_items::keep_ended);
  for (int i = 0; i < 20; ++i)
    list.add(log.make(1, answered("c" + std::to_string(i)))); // a call that left the window long ago ends too
  CHECK(list.items().size() == recent_items::keep_ended);
  CHECK(list.items().back().id == "c19"); // what ended last stays
}

TEST_CASE("lists that are merged are the list of all events, however they were cut") {
  std::mt19937 random{7};
  for (int round = 0; round < 200; ++round) {
    agent_log log;
    std::vector<event> events;
    int calls = 0;
    for (int i = 0; i < 60; ++i) {
      const auto dice = random() % 10;
      if (dice < 5)
        events.push_back(log.make(1, call("c" + std::to_string(calls++))));
      else if (dice < 8 && calls > 0)
        events.push_back(
            log.make(1, answered("c" + std::to_string(random() % static_cast<unsigned>(calls)))));
      else
        events.push_back(log.make(1, thought_body{0, "t" + std::to_string(i), {}}));
    }
    recent_items whole;
    recent_items merged;
    recent_items piece;
    for (const auto& e : events) {
      whole.add(e);
      piece.add(e);
      if (random() % 4 == 0)
        merged.merge(std::exchange(piece, {}));
    }
    merged.merge(std::move(piece));
    // Which of the ended ones were dropped may differ by how far the pieces reached; what runs and what came last not.
    auto running_ids = [](const recent_items& list) {
      std::vector<std::string> ids;
      for (const auto& item : list.items())
        if (item.status == running)
          ids.push_back(item.id);
      return ids;
    };
    CHECK(running_ids(merged) == running_ids(whole));
    CHECK(merged.items().size() <= running_ids(merged).size() + recent_items::keep_ended);
    CHECK(merged.items().size() == whole.items().size());
  }
}
