// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/activity_collector.hpp>
#include <troupe/runtime/activity_tree.hpp>

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <random>

#include "support/agent_log.hpp"

using namespace troupe;
using namespace troupe::test;

TEST_CASE("a turn is counted once, however many pieces it has") {
  agent_log log;
  activity_collector collector{log.session()};
  collector.add(log.batch(1, {started(), user_message_body{std::make_shared<content>()}}));
  collector.add(log.batch(1, {thought_body{0, "hm", {}}, call("a"), call("b")}));
  collector.add(log.batch(1, {answered("a"), answered("b", errc::timeout)}));
  collector.add(log.batch(1, {model_text_body{1, "done", {}}, ended()}));
  const auto delta = collector.take();
  REQUIRE(delta->agents.size() == 1);
  const auto& counts = delta->agents.front().counts;
  CHECK(counts.turns == 2);
  CHECK(counts.tool_calls == 2);
  CHECK(counts.failed_calls == 1);
  CHECK(delta->tools.at("lookup").calls == 2);
  CHECK(delta->tools.at("lookup").errors == 1);
  CHECK(collector.empty());
}

TEST_CASE("questions are open until they are answered, refused, or their agent ends") {
  agent_log log;
  activity_tree tree;
  auto feed = [&](agent_number number, std::vector<event_body> bodies) {
    activity_collector collector{log.session()};
    collector.add(log.batch(number, std::move(bodies)));
    tree.merge(std::move(*collector.take()));
  };
  auto open = [&] { return tree.snapshot({}).sessions.front().row.questions.size(); };
  feed(0, {started()});
  for (agent_number n : {1U, 2U, 3U})
    feed(n, {started(), call("q" + std::to_string(n)),
             question_body{call_id{"q" + std::to_string(n)}, "May I?", {{"type", "boolean"}}, "policy"}});
  CHECK(open() == 3);
  CHECK(tree.snapshot({}).sessions.front().row.group == session_group::needs_input);
  CHECK(tree.snapshot({}).sessions.front().agents.at(1).waiting_for == "an answer");
  feed(1, {answer_body{call_id{"q1"}, true, "user"}});
  CHECK(open() == 2);
  feed(2, {answered("q2", errc::denied)});
  CHECK(open() == 1);
  feed(3, {ended(outcome::make_cancelled("user"))});
  CHECK(open() == 0);
  CHECK(tree.snapshot({}).sessions.front().row.group == session_group::running);
}

TEST_CASE("an agent works while any of its calls runs, and waits while any of its questions is open") {
  agent_log log;
  activity_tree tree;
  auto feed = [&](std::vector<event_body> bodies) {
    activity_collector collector{log.session()};
    collector.add(log.batch(0, std::move(bodies)));
    tree.merge(std::move(*collector.take()));
    return tree.snapshot({}).sessions.front().agents.front();
  };
  feed({started()});
  feed({call("a"), call("b"), call("c")});
  feed({question_body{call_id{"c"}, "May I?", {}, "policy"}});
  auto row = feed({answered("a")});
  CHECK(row.state == activity_state::waiting);
  CHECK(row.held);
  CHECK(row.waiting_for == "an answer");
  row = feed({answer_body{call_id{"c"}, true, "user"}});
  CHECK(row.state == activity_state::working);
  CHECK_FALSE(row.held);
  CHECK(row.waiting_for == "lookup and 1 more calls");
  CHECK(feed({answered("b")}).state == activity_state::working);
  row = feed({answered("c")});
  CHECK(row.state == activity_state::thinking);
  CHECK(row.waiting_for == "model 'fast'");
  CHECK(feed({ended()}).waiting_for.empty());
}

TEST_CASE("a session that nobody works at any more shows no agent at work") {
  agent_log log;
  activity_tree tree;
  activity_collector collector{log.session()};
  collector.add(log.batch(0, {started(), call("q"), question_body{call_id{"q"}, "May I?", {}, "policy"}}));
  collector.add(log.batch(1, {started(), ended()}));
  collector.add(log.batch(2, {started()}));
  tree.merge(std::move(*collector.take()));
  collector.note_closed("the disk is full");
  tree.merge(std::move(*collector.take()));
  const auto session = tree.snapshot({}).sessions.front();
  CHECK(session.row.group == session_group::failed);
  CHECK(session.row.questions.empty());
  CHECK(session.row.agents == std::array<std::uint64_t, activity_states>{0, 0, 0, 1, 2, 0});
  CHECK(session.agents.at(0).current == "the disk is full");
  CHECK(session.agents.at(1).state == activity_state::completed);
  CHECK(tree.totals().failed == 0); // no event has said so
}

TEST_CASE("a hint to a session that rests begins no work in the tree, and such sessions are forgotten") {
  activity_limits limits;
  limits.keep_sessions = 2;
  activity_tree tree{limits};
  for (const auto* name : {"a", "b", "c", "d"}) {
    agent_log log{name};
    activity_collector collector{log.session()};
    collector.add(log.batch(0, {steering_body{"faster", "user"}}));
    tree.merge(std::move(*collector.take()));
  }
  const auto seen = tree.snapshot({});
  CHECK(seen.sessions.size() == 2);
  CHECK(seen.sessions.front().row.group == session_group::done);
  CHECK(tree.vitals().agents[static_cast<std::size_t>(activity_state::thinking)] == 0);
}

TEST_CASE("a session that runs again and again pushes no other out of the tree") {
  activity_limits limits;
  limits.keep_sessions = 3;
  activity_tree tree{limits};
  agent_log first{"first"};
  agent_log second{"second"};
  for (int run = 0; run < 10; ++run)
    for (auto* log : {&first, &second}) {
      if (log == &first && run > 0)
        continue;
      activity_collector collector{log->session()};
      collector.add(log->batch(0, {started(), ended()}));
      tree.merge(std::move(*collector.take()));
    }
  CHECK(tree.snapshot({}).sessions.size() == 2);
}

TEST_CASE("a session is forgotten once its last background child has ended as well") {
  activity_limits limits;
  limits.keep_sessions = 0;
  activity_tree tree{limits};
  agent_log log;
  auto feed = [&](agent_number number, std::vector<event_body> bodies) {
    activity_collector collector{log.session()};
    collector.add(log.batch(number, std::move(bodies)));
    tree.merge(std::move(*collector.take()));
  };
  feed(0, {started()});
  feed(1, {started()});
  feed(0, {ended()});
  CHECK(tree.snapshot({}).sessions.size() == 1);
  feed(1, {ended()});
  CHECK(tree.snapshot({}).sessions.empty());
}

TEST_CASE("what an earlier process left is shown: its calls, its questions and what was asked") {
  agent_log log;
  agent_state state;
  state.number = 0;
  state.open = 2;
  for (const auto* id : {"a", "b", "c"}) {
    open_call open;
    open.call = call_id{id};
    open.name = "lookup";
    open.arguments = "{}";
    state.calls.push_back(std::move(open));
  }
  state.calls.back().result = call_result{{}, {}};
  state.conversation.append(std::make_shared<const content>(make_text(role::user, "Sum it up.")));
  activity_collector collector{log.session()};
  collector.restore(log.origin(0), {"root", "root", "fast", 0, false}, state,
                    {{call_id{"b"}, "May I?", {{"type", "boolean"}}, "policy"}}, {});
  activity_tree tree;
  tree.merge(std::move(*collector.take()));
  const auto session = tree.snapshot({}).sessions.front();
  CHECK(session.row.group == session_group::needs_input);
  CHECK(session.row.prompt == "Sum it up.");
  REQUIRE(session.row.questions.size() == 1);
  CHECK(session.row.questions.front().body.message == "May I?");
  CHECK(session.agents.front().state == activity_state::waiting);
  CHECK(session.agents.front().items.size() == 2);
  CHECK(session.row.totals == activity_counts{});
}

namespace {

// What a client of the stream does: it keeps rows by key.
struct follower {
  std::map<std::string, session_row> sessions;
  std::map<agent_number, agent_row> agents;
  activity_cursor since;
  std::uint64_t polls = 0;

  bool poll(const activity_tree& tree, const session_id& followed, std::size_t max_rows) {
    ++polls;
    activity_query query;
    query.session = followed;
    query.since = since;
    query.max_rows = max_rows;
    auto told = tree.changes(query);
    if (told.complete) {
      sessions.clear();
      agents.clear();
    }
    for (const auto& gone : told.removed_sessions)
      sessions.erase(gone.str());
    for (auto gone : told.removed_agents)
      agents.erase(gone);
    for (const auto& row : told.sessions)
      sessions[row.session.str()] = row;
    for (const auto& row : told.agents)
      agents[row.origin->number] = row;
    since = told.version;
    return told.more;
  }
};

void check_same(const follower& seen, const activity_tree& tree, const session_id& followed) {
  const auto truth = tree.snapshot({});
  REQUIRE(seen.sessions.size() == truth.sessions.size());
  for (const auto& session : truth.sessions) {
    const auto& row = seen.sessions.at(session.row.session.str());
    CHECK(row.last_seq == session.row.last_seq);
    CHECK(row.agents == session.row.agents);
    CHECK(row.group == session.row.group);
    if (session.row.session != followed)
      continue;
    REQUIRE(seen.agents.size() == session.agents.size());
    for (const auto& agent : session.agents) {
      const auto& known = seen.agents.at(agent.origin->number);
      CHECK(known.state == agent.state);
      CHECK(known.self == agent.self);
      CHECK(known.subtree == agent.subtree);
      CHECK(known.collapsed_agents == agent.collapsed_agents);
      CHECK(known.current == agent.current);
    }
  }
}

} // namespace

TEST_CASE(
    "who follows changes knows what a snapshot shows, however seldom it asks and however little it takes") {
  std::mt19937 random{11};
  for (int round = 0; round < 60; ++round) {
    activity_limits limits;
    limits.keep_ended = random() % 8;
    limits.keep_sessions = 1 + random() % 3;
    limits.keep_removed = random() % 2 == 0 ? 2 : 1000;
    activity_tree tree{limits};
    std::vector<agent_log> logs;
    for (const auto* name : {"s0", "s1", "s2", "s3"})
      logs.emplace_back(name);
    std::map<std::pair<std::size_t, agent_number>, int> phase; // 0: not there, 1: runs, 2: ended
    follower often;
    follower seldom;
    const session_id followed{"s1"};
    for (int i = 0; i < 400; ++i) {
      const auto which = random() % logs.size();
      auto& log = logs[which];
      activity_collector collector{log.session()};
      const auto number = static_cast<agent_number>(phase[{which, 0}] == 1 ? random() % 12 : 0);
      auto& at = phase[{which, number}];
      if (at == 1 && random() % 3 == 0) {
        at = number == 0 ? 0 : 2;
        collector.add(log.batch(number, {ended()}));
      } else if (at == 1) {
        collector.add(log.batch(number, {call("c"), answered("c")}));
      } else if (at == 0) {
        at = 1;
        collector.add(log.batch(number, {started()}));
      } else {
        continue;
      }
      tree.merge(std::move(*collector.take()));
      if (random() % 2 == 0)
        (void)often.poll(tree, followed, 3);
      if (random() % 50 == 0)
        (void)seldom.poll(tree, followed, 1000);
    }
    while (often.poll(tree, followed, 3)) {
    }
    while (seldom.poll(tree, followed, 2)) {
    }
    check_same(often, tree, followed);
    check_same(seldom, tree, followed);
    const auto before = often.polls;
    CHECK_FALSE(often.poll(tree, followed, 3));
    CHECK(often.polls == before + 1);
  }
}

TEST_CASE("a cursor goes through text, and what is none is told apart") {
  const activity_cursor cursor{12, 34567890123456789U};
  CHECK(cursor_from_text(to_text(cursor)) == cursor);
  for (const auto* text : {"", "1", "1.", ".1", "1.2.3", "-1.2", "1.99999999999999999999", "a.b", "1. 2"})
    CHECK_FALSE(cursor_from_text(text));
}

TEST_CASE("nothing is told again that has not changed") {
  agent_log log;
  activity_tree tree;
  activity_collector collector{log.session()};
  collector.add(log.batch(0, {started()}));
  collector.add(log.batch(1, {started()}));
  tree.merge(std::move(*collector.take()));
  activity_query query;
  query.session = log.session();
  auto first = tree.changes(query);
  CHECK(first.complete);
  CHECK(first.agents.size() == 2);
  query.since = first.version;
  CHECK(tree.changes(query).empty());
  collector.add(log.batch(1, {call("a")}));
  tree.merge(std::move(*collector.take()));
  query.agent = 1;
  auto next = tree.changes(query);
  REQUIRE(next.agents.size() == 2); // the child, and the root that sums up
  CHECK(next.agents.front().origin->number == 1);
  CHECK(next.agents.front().items.size() == 1);
  CHECK(next.agents.back().items.empty());
  query.since = {next.version.rows + 1000, next.version.removals}; // of another process
  CHECK(tree.changes(query).complete);
}

TEST_CASE("totals and histograms stay when rows collapse and sessions are forgotten") {
  activity_limits limits;
  limits.keep_ended = 2;
  limits.keep_sessions = 1;
  activity_tree tree{limits};
  activity_counts expected;
  for (const auto* name : {"a", "b", "c"}) {
    agent_log log{name};
    activity_collector collector{log.session()};
    auto add = [&](const event_batch_ptr& batch) {
      for (const auto& e : *batch)
        expected.add(e);
      collector.add(batch);
    };
    add(log.batch(0, {started()}));
    for (agent_number n = 1; n <= 10; ++n)
      add(log.batch(n,
                    {started(), call("c" + std::to_string(n)), answered("c" + std::to_string(n)), ended()}));
    tree.merge(std::move(*collector.take()));
    const auto live = tree.snapshot(log.session());
    REQUIRE(live.sessions.size() == 1);
    CHECK(live.sessions.front().agents.front().collapsed_agents == 8);
    CHECK(live.sessions.front().agents.front().subtree_agents == 10);
    CHECK(live.sessions.front().agents.front().subtree.tool_calls == 10);
    add(log.batch(0, {ended()}));
    tree.merge(std::move(*collector.take()));
  }
  CHECK(tree.totals() == expected);
  CHECK(tree.snapshot({}).sessions.size() == 1);
  const auto vitals = tree.vitals();
  CHECK(vitals.tools.at("lookup").calls == 30);
  CHECK(vitals.agent_time.count() == 30);
  CHECK(vitals.sessions == 1);
}

TEST_CASE("a queued run is seen before its session has a root, and is gone when it was refused") {
  agent_log log;
  activity_tree tree;
  activity_collector collector{log.session()};
  collector.note_queued(2);
  tree.merge(std::move(*collector.take()));
  CHECK(tree.snapshot({}).sessions.front().row.group == session_group::queued);
  collector.note_queued(2);
  CHECK(collector.empty());
  collector.note_queued(0);
  tree.merge(std::move(*collector.take()));
  CHECK(tree.snapshot({}).sessions.empty());
}

TEST_CASE("the names of tools are bounded, in a delta and in all") {
  activity_limits limits;
  limits.max_tools = 10;
  activity_tree tree{limits};
  agent_log log;
  for (int i = 0; i < 30; ++i) {
    activity_collector collector{log.session()};
    for (int k = 0; k < 100; ++k)
      collector.add(log.batch(
          0, {tool_result_body{call_id{"x"}, "tool" + std::to_string(i * 100 + k), "v", false, {}}}));
    const auto delta = collector.take();
    CHECK(delta->tools.size() <= activity_collector::max_tools + 1);
    tree.merge(std::move(*delta));
  }
  const auto vitals = tree.vitals();
  CHECK(vitals.tools.size() <= limits.max_tools + 1);
  std::uint64_t calls = 0;
  for (const auto& [name, tool] : vitals.tools)
    calls += tool.calls;
  CHECK(calls == 3000);
}
