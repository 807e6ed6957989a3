#include "support/machine_driver.hpp"

using namespace troupe;
using namespace troupe::test;
using driver = machine_driver;

namespace {

transcript conversation_of(const std::vector<std::pair<role, std::size_t>>& contents) {
  transcript t;
  for (const auto& [who, bytes] : contents)
    t.append(make_text(who, std::string(bytes, 'x')));
  return t;
}

agent_profile_ptr compacting(std::uint64_t above, std::uint64_t keep) {
  auto spec = root();
  spec.tools = {make_tool("look", std::string(400, 'r'))};
  spec.compaction.above_tokens = above;
  spec.compaction.keep_tokens = keep;
  return build(spec);
}

std::size_t results_without_calls(const agent_state& state) {
  std::size_t orphans = 0;
  for (std::size_t i = 0; i < state.conversation.size(); ++i)
    if (state.conversation[i]->role == role::tool &&
        (i == 0 || state.conversation[i - 1]->role != role::model))
      ++orphans;
  return orphans;
}

} // namespace

TEST_CASE("the oldest contents go, about as many as asked, and results stay with their calls") {
  const auto t = conversation_of(
      {{role::user, 100}, {role::model, 100}, {role::tool, 100}, {role::model, 100}, {role::user, 100}});
  CHECK(contents_to_compact(t, 100) == 4);
  CHECK(contents_to_compact(t, 200) == 3);
  CHECK(contents_to_compact(t, 300) == 1); // not between the call and its result
  CHECK(contents_to_compact(t, 400) == 1);
  CHECK(contents_to_compact(t, 500) == 0);
  CHECK(contents_to_compact(t, 0) == 4); // the last always stays
  CHECK(contents_to_compact(t, 0, true) == 5);
  CHECK(contents_to_compact(t, 100, true) == 4);
  CHECK(contents_to_compact(conversation_of({{role::user, 100}}), 0) == 0);
  CHECK(contents_to_compact({}, 0) == 0);
}

TEST_CASE(
    "a long conversation is summed up before the next model call, and the summary stands in its place") {
  driver d{compacting(100, 50)};
  d.start(std::string(800, 'q'));
  auto commands = d.feed(input::model_done{answer({call_of("look")})});
  commands = d.feed(input::tool_done{call_id{"c0-0-0"}, {std::string(400, 'r'), {}, {}}});
  auto compact = driver::of<command::compact>(commands);
  REQUIRE(compact.size() == 1);
  CHECK(driver::of<command::call_model>(commands).empty());
  CHECK(compact[0].contents == 1);
  commands = d.feed(input::compacted{compact[0].contents, "they asked for q", {5, 0, 2, 0}});
  CHECK(driver::of<command::call_model>(commands).size() == 1);
  CHECK(d.state.conversation[0]->text().find("they asked for q") != std::string::npos);
  CHECK(results_without_calls(d.state) == 0);
  CHECK(d.state.used.output == 7);
}

TEST_CASE("without a summary the contents are cut off, and the model is told") {
  driver d{compacting(100, 50)};
  d.start(std::string(800, 'q'));
  d.feed(input::model_done{answer({call_of("look")})});
  auto commands = d.feed(input::tool_done{call_id{"c0-0-0"}, {std::string(400, 'r'), {}, {}}});
  const auto contents = driver::of<command::compact>(commands).at(0).contents;
  d.feed(input::compacted{contents, std::nullopt, {}});
  CHECK(d.state.conversation[0]->text().find("no longer shown") != std::string::npos);
  CHECK(d.events<compaction_body>().size() == 1);
}

TEST_CASE("a run that was resumed while it summed up does so again") {
  driver d{compacting(100, 50)};
  d.start(std::string(800, 'q'));
  d.feed(input::model_done{answer({call_of("look")})});
  d.feed(input::tool_done{call_id{"c0-0-0"}, {std::string(400, 'r'), {}, {}}});
  CHECK(driver::of<command::compact>(d.feed(input::resumed{})).size() == 1);
}

TEST_CASE("the counted bytes of a conversation are those that it has, also after compaction") {
  driver d{compacting(100, 50)};
  d.start(std::string(800, 'q'));
  for (int turn = 0; turn < 20; ++turn) {
    auto commands = d.feed(input::model_done{answer({call_of("look")})});
    const call_id call{"c0-" + std::to_string(turn) + "-0"};
    commands = d.feed(input::tool_done{call, {std::string(400, 'r'), {}, {}}});
    for (const auto& c : driver::of<command::compact>(commands))
      d.feed(input::compacted{c.contents, "short", {}});
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < d.state.conversation.size(); ++i)
      bytes += estimate_bytes(*d.state.conversation[i]);
    CHECK(bytes == d.state.bytes);
    CHECK(results_without_calls(d.state) == 0);
  }
  CHECK(d.state.conversation.size() < 10);
}

TEST_CASE("keys of a run go with it, and are in nobody's log but the agent's own") {
  auto spec = root();
  spec.tools = {make_tool("look")};
  driver d{build(spec)};
  d.start();
  d.feed(input::model_done{answer({call_of("look")})});
  d.feed(input::tool_done{call_id{"c0-0-0"}, {"ok", {}, {{"temp:a", 1}, {"b", 2}}}});
  CHECK(d.state.keys->at("temp:a") == 1);
  d.feed(input::model_done{answer({text_of("done")})});
  d.start("again");
  CHECK_FALSE(d.state.keys->contains("temp:a"));
  CHECK(d.state.keys->at("b") == 2);
}
