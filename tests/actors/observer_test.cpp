// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "support/actor_fixture.hpp"
#include "support/profiles.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct observed : actor_fixture {
  using actor_fixture::actor_fixture;

  std::shared_ptr<const activity_changes> changes(activity_query query = {}) {
    std::shared_ptr<const activity_changes> told;
    caf::anon_send(observer,
                   actors::query_changes{std::move(query), [&told](auto answer) { told = answer; }});
    run();
    REQUIRE(told != nullptr);
    return told;
  }

  std::shared_ptr<const recent_events> recent(event_query query = {}) {
    std::shared_ptr<const recent_events> told;
    caf::anon_send(observer, actors::query_events{std::move(query), [&told](auto answer) { told = answer; }});
    run();
    REQUIRE(told != nullptr);
    return told;
  }

  agent_row row(const std::string& name) {
    for (const auto& agent : snapshot().sessions.front().agents)
      if (agent.origin->author == name)
        return agent;
    FAIL("no agent " << name);
    return {};
  }
};

} // namespace

TEST_CASE("an agent that waits for a place at its model is shown so, until it has one") {
  observed f{1};
  auto first = f.start(build(root()), "one", {});
  (void)first;
  const auto session = std::exchange(f.session, session_id{"second"});
  auto second = f.start(build(root()), "two", {});
  auto waiting = [&] {
    for (const auto& s : f.snapshot().sessions)
      if (s.row.session == session_id{"second"})
        return s.agents.front().waiting_for;
    return std::string{"not there"};
  };
  CHECK(waiting() == "a place at model 'fast'");
  f.advance(std::chrono::seconds{5});
  f.answer("root", answer({text_of("done")}));
  CHECK(waiting() == "model 'fast'");
  f.answer("root", answer({text_of("done")}));
  REQUIRE(second->result());
  CHECK(second->result()->completed());
  // How long it waited stands on the event of its answer, and in the figures of its model.
  const auto log = f.log();
  const auto text =
      std::find_if(log.begin(), log.end(), [](const event& e) { return e.kind() == event_kind::model_text; });
  REQUIRE(text != log.end());
  CHECK(text->timing.queued == 5'000'000);
  CHECK(text->timing.took >= 1);
  const auto status = f.models->status().at("fast");
  CHECK(status.queue_wait.count() >= 2);
  CHECK(status.queue_wait.sum_us >= 5'000'000);
}

TEST_CASE("runs that wait in a session are counted") {
  observed f;
  auto first = f.start(build(root()));
  auto second = f.start(build(root()));
  CHECK(f.snapshot().sessions.front().row.queued_runs == 1);
  f.answer("root", answer({text_of("done")}));
  CHECK(f.snapshot().sessions.front().row.queued_runs == 0);
  f.answer("root", answer({text_of("done")}));
  CHECK(second->result()->completed());
  CHECK(f.snapshot().sessions.front().row.group == session_group::done);
}

TEST_CASE("who follows the tree is told what has changed, and nothing twice") {
  observed f;
  activity_query query;
  query.session = f.session;
  const auto nothing = f.changes(query);
  CHECK(nothing->complete);
  CHECK(nothing->sessions.empty());
  auto feed = f.start(build(root()));
  query.since = nothing->version;
  const auto begun = f.changes(query);
  CHECK_FALSE(begun->complete);
  REQUIRE(begun->sessions.size() == 1);
  CHECK(begun->sessions.front().prompt == "go");
  CHECK(begun->agents.size() == 1);
  query.since = begun->version;
  CHECK(f.changes(query)->empty());
  f.answer("root", answer({text_of("done")}));
  CHECK(f.changes(query)->agents.front().state == activity_state::completed);
}

TEST_CASE("events come to who follows them, in order, and to nobody else") {
  observed f;
  auto first = f.start(build(root()));
  auto from_now = f.recent();
  CHECK(from_now->events.empty()); // nobody had asked before
  f.answer("root", answer({text_of("done")}));
  event_query query;
  query.after = from_now->position;
  const auto page = f.recent(query);
  REQUIRE_FALSE(page->events.empty());
  CHECK(page->missed == 0);
  const auto log = f.log();
  CHECK(page->events.back()->seq == log.back().seq);
  for (std::size_t i = 1; i < page->events.size(); ++i)
    CHECK(page->events[i]->seq == page->events[i - 1]->seq + 1);

  // Nobody asks for a while: then events are not kept, and who comes back is told of a gap.
  f.advance(actors::followed_for + std::chrono::seconds{1});
  auto second = f.start(build(root()));
  f.answer("root", answer({text_of("done")}));
  query.after = page->position;
  const auto later = f.recent(query);
  CHECK(later->events.empty());
  CHECK(later->missed > 0);
}

TEST_CASE("a session whose store fails is not shown at work for ever") {
  observed f;
  auto feed = f.start(build(root()));
  f.breakable->broken = true;
  f.answer("root", answer({text_of("done")}));
  REQUIRE(feed->result());
  CHECK(feed->result()->code() == errc::store_failed);
  CHECK(f.snapshot().sessions.front().row.group == session_group::failed);
  CHECK(f.snapshot().sessions.front().agents.front().current == "the disk is full");
}

TEST_CASE("a follower that throws is its own loss") {
  observed f;
  caf::anon_send(f.observer,
                 actors::query_changes{{}, [](const auto&) { throw std::runtime_error{"mine"}; }});
  f.run();
  auto feed = f.start(build(root()));
  f.answer("root", answer({text_of("done")}));
  CHECK(feed->result()->completed());
  CHECK(f.snapshot().totals.completed == 1);
}

TEST_CASE("a session that is resumed is shown before anything happens in it") {
  observed f;
  run_request options;
  options.answerable = true;
  auto spec = root();
  spec.tools = {"ask_me"};
  auto with = environment();
  with.tools.emplace("ask_me", make_tool("ask_me"));
  std::vector<policy_rule> rules(1);
  rules.front().tool = "ask_me";
  rules.front().decision = policy_decision::ask;
  spec.rules = std::make_shared<const policy>(*policy::compile(rules));
  auto profile = build(spec, with);
  auto feed = f.start(profile, "go", options);
  f.answer("root", answer({call_of("ask_me")}));
  CHECK(f.snapshot().sessions.front().row.questions.size() == 1);
  f.restart();
  auto again = f.resume(profile, options);
  const auto seen = f.snapshot();
  REQUIRE(seen.sessions.size() == 1);
  CHECK(seen.sessions.front().row.group == session_group::needs_input);
  CHECK(seen.sessions.front().row.questions.size() == 1); // and not twice
  CHECK(seen.sessions.front().agents.front().items.size() == 1);
  CHECK_FALSE(again->run().empty());
}

TEST_CASE("a run that its starter has cancelled while it waited is not begun") {
  observed f;
  auto first = f.start(build(root()));
  auto second = f.start(build(root()));
  second->finish(outcome::make_cancelled("user"));
  f.answer("root", answer({text_of("done")}));
  CHECK(first->result()->completed());
  CHECK(second->run().empty());
  CHECK(f.is_quiet());
  CHECK(f.events<agent_started_body>().size() == 1);
}
