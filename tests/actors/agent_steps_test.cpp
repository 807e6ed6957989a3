// What an agent tells its supervisor as one step.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

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
