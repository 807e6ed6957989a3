// What an agent tells its supervisor as one step.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

using kinds = std::vector<event_kind>;

// Of the events in each batch of the log.
std::vector<kinds> batches(actor_fixture& f) {
  std::vector<kinds> all;
  auto page = f.store->read(f.session, 0, 1'000);
  REQUIRE(page.has_value());
  for (const auto& batch : page->batches) {
    all.emplace_back();
    for (const auto& e : *batch)
      all.back().push_back(e.kind());
  }
  return all;
}

root_spec inline_root(tool_annotations annotations) {
  annotations.runs_inline = true;
  auto spec = root();
  spec.tools = {make_tool("look", "seen", annotations)};
  return spec;
}

// The batches after the one that starts the agent, of a run that calls `look` once.
std::vector<kinds> batches_of_call(const root_spec& spec) {
  actor_fixture f;
  f.start(build(spec));
  f.answer("root", answer({call_of("look")}));
  auto all = batches(f);
  REQUIRE_FALSE(all.empty());
  all.erase(all.begin());
  return all;
}

// Keeps the steps of its agents, and wants no more commands until it is told to.
class keeping_supervisor final : public actors::supervisor_handle::base {
 public:
  keeping_supervisor(caf::actor_config& config, std::vector<actors::agent_step>& steps)
      : actors::supervisor_handle::base(config), steps_(steps) {}

  behavior_type make_behavior() override {
    return {[this](const actors::agent_step& step) { steps_.push_back(step); },
            [](const actors::start_run&) {},
            [](const actors::steer_agents&) {},
            [](const actors::answer_question&) {},
            [](const actors::cancel_agents&) {},
            [](const actors::query_tasks&) {},
            [](const actors::await_quiet&) {},
            [](const actors::suspend_session&) {},
            [](const actors::session_read&) {},
            [](const actors::log_written&) {},
            [](const actors::tick&) {},
            [](const actors::activity_taken&) {},
            [](const actors::stop_actor&) {}};
  }

 private:
  std::vector<actors::agent_step>& steps_;
};

// A root agent under such a supervisor, whose model has asked for `children`.
struct kept_agent {
  explicit kept_agent(int children) {
    auto handle = f.system.spawn<keeping_supervisor>(steps);
    auto* supervisor = static_cast<keeping_supervisor*>(caf::actor_cast<caf::abstract_actor*>(handle));
    auto context = std::make_shared<actors::session_context>();
    context->session = f.session;
    context->supervisor = handle;
    context->observer = f.observer;
    context->tools = f.tools;
    context->models = f.models;
    context->wall_clock = [] { return timestamp{}; };
    context->watchers = f.watchers;
    auto spec = root();
    spec.subagents = {{.name = "helper", .goal = "Help."}};
    actors::agent_start start;
    start.context = std::move(context);
    start.profile = build(spec);
    start.origin = std::make_shared<event_origin>();
    auto begin = std::make_shared<input::start>();
    begin->request = say("go");
    start.begin = std::move(begin);
    agent = actors::spawn_agent(supervisor, std::move(start));
    f.run();
    steps.clear();
    f.answer("root", answer(std::vector<part>(static_cast<std::size_t>(children),
                                              call_of("helper", R"({"request":"do"})"))));
    // It ends with the fixture.
    keep = handle;
  }
  ~kept_agent() {
    caf::anon_send_exit(agent, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(keep, caf::exit_reason::user_shutdown);
    f.run();
  }

  // Of the commands of each step.
  template <class Command>
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> each;
    for (const auto& step : steps)
      each.push_back(static_cast<std::size_t>(
          std::count_if(step.commands.begin(), step.commands.end(),
                        [](const agent_command& c) { return std::holds_alternative<Command>(c); })));
    return each;
  }

  actor_fixture f;
  std::vector<actors::agent_step> steps;
  actors::agent_handle agent;
  actors::supervisor_handle keep;
};

using counts = std::vector<std::size_t>;

const std::vector<kinds> apart = {{event_kind::tool_call}, {event_kind::tool_result}};

} // namespace

TEST_CASE("an inline tool's call and its result are one step") {
  CHECK(batches_of_call(inline_root({.read_only = true})) ==
        std::vector<kinds>{{event_kind::tool_call, event_kind::tool_result}});
}

TEST_CASE("a call that must not run twice is told before it runs") {
  CHECK(batches_of_call(inline_root({})) == apart);
}

TEST_CASE("a step is told before the program's hooks run") {
  auto spec = inline_root({.read_only = true});
  auto with = std::make_shared<hooks>();
  with->before_tool = [](const hook_context&, const std::string&, const nlohmann::json&) {
    return tool_verdict{};
  };
  spec.before_and_after = with;
  CHECK(batches_of_call(spec) == apart);
}

TEST_CASE("a call of the pool's tool is told before an inline one runs, though that ends first") {
  actor_fixture f;
  auto spec = inline_root({.read_only = true});
  spec.tools.emplace_back(make_tool("pooled"));
  f.start(build(spec));
  f.answer("root", answer({call_of("pooled"), call_of("look")}));
  const auto all = batches(f);
  REQUIRE(all.size() > 2);
  CHECK(all[1] == kinds{event_kind::tool_call, event_kind::tool_call});
  CHECK(all[2] == kinds{event_kind::tool_result});
}

TEST_CASE("many commands go in parts, and each when it is wanted") {
  kept_agent a{38};
  CHECK(a.counts<command::start_child>() == counts{16});
  CHECK(a.steps.back().holds_back);
  caf::anon_send(a.agent, actors::commands_wanted{});
  a.f.run();
  CHECK(a.counts<command::start_child>() == counts{16, 16});
  CHECK(a.steps.back().holds_back);
  caf::anon_send(a.agent, actors::commands_wanted{});
  a.f.run();
  CHECK(a.counts<command::start_child>() == counts{16, 16, 6});
  CHECK_FALSE(a.steps.back().holds_back);
  caf::anon_send(a.agent, actors::commands_wanted{});
  a.f.run();
  CHECK(a.steps.size() == 3);
}

TEST_CASE("as many commands as one step takes are not held back") {
  kept_agent a{16};
  CHECK(a.counts<command::start_child>() == counts{16});
  CHECK_FALSE(a.steps.back().holds_back);
}

TEST_CASE("commands that come later do not overtake those that are held back") {
  kept_agent a{38};
  caf::anon_send(a.agent, actors::feed_input{std::make_shared<const agent_input>(
                              input::deadline{input::deadline_kind::run})});
  a.f.run();
  REQUIRE(a.steps.size() >= 3);
  CHECK(a.steps[1].commands.size() == 22);
  CHECK(a.counts<command::start_child>()[1] == 22);
  CHECK(a.counts<command::cancel_child>()[2] == 16);
}

TEST_CASE("the last step of an agent has all that was held back before it") {
  kept_agent a{38};
  caf::anon_send(a.agent, actors::feed_input{std::make_shared<const agent_input>(input::cancel{"user"})});
  a.f.run();
  REQUIRE(a.steps.size() == 3);
  CHECK(a.counts<command::start_child>()[1] == 22);
  CHECK(a.counts<command::cancel_child>()[2] == 38);
  CHECK(a.counts<command::finish>()[2] == 1);
}
