// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/turn_machine.hpp>

#include <doctest/doctest.h>

#include "support/machine_driver.hpp"

using namespace troupe;
using namespace troupe::test;
using driver = machine_driver;

namespace {

root_spec deep_root() {
  auto spec = root();
  spec.tools = {make_tool("lookup"), make_tool("todo")};
  spec.subagents = {{.name = "reviewer", .goal = "Review drafts.", .model = "strong"}};
  spec.spawn = spawn_config{};
  spec.spawn->tools = {make_tool("fetch")};
  return spec;
}

nlohmann::json only_result(const driver& d) {
  auto r = d.events<tool_result_body>();
  REQUIRE(r.size() == 1);
  return nlohmann::json::parse(r[0].text);
}

} // namespace

TEST_CASE("a prebuilt subagent is a tool named after it, and its result is the child's text") {
  driver d{build(deep_root())};
  d.start();
  auto starts = driver::of<command::start_child>(
      d.feed(input::model_done{answer({call_of("reviewer", R"({"request":"look at this"})")})}));
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].profile->name == "reviewer");
  CHECK(starts[0].profile->model == "strong");
  CHECK(starts[0].request->text() == "look at this");
  d.feed(input::child_done{starts[0].call, "reviewer", "strong", false, outcome::make_completed("fine")});
  CHECK(d.events<tool_result_body>().at(0).text == "fine");
}

TEST_CASE("a failed or cancelled prebuilt child is a result with status, name, error and reason") {
  driver d{build(deep_root())};
  d.start();
  auto starts = driver::of<command::start_child>(
      d.feed(input::model_done{answer({call_of("reviewer", R"({"request":"x"})")})}));
  SUBCASE("failed") {
    d.feed(input::child_done{starts[0].call, "reviewer", "strong", false,
                             outcome::make_failed(errc::max_turns, "30 of 30 turns", "half")});
    CHECK(only_result(d) == nlohmann::json{{"status", "error"},
                                           {"name", "reviewer"},
                                           {"error", "30 of 30 turns"},
                                           {"reason", "max_turns"},
                                           {"partial", "half"}});
  }
  SUBCASE("cancelled") {
    d.feed(input::child_done{starts[0].call, "reviewer", "strong", false, outcome::make_cancelled("user")});
    CHECK(only_result(d)["status"] == "cancelled");
  }
}

TEST_CASE(
    "a spawned child is told its goal and context, and gets the pool without todo and delegating tools") {
  driver d{build(deep_root())};
  d.start();
  auto starts = driver::of<command::start_child>(d.feed(input::model_done{
      answer({call_of("spawn_subagent", R"({"name":"scout","goal":"Find it.","context":"It is blue."})")})}));
  REQUIRE(starts.size() == 1);
  const auto& child = *starts[0].profile;
  CHECK(starts[0].request->text() == "Goal: Find it.\nContext from parent: It is blue.");
  CHECK(child.kind == "spawned");
  CHECK(child.model == "fast");
  CHECK(child.tools.size() == 2);
  CHECK(child.tools.contains("lookup"));
  CHECK(child.tools.contains("fetch"));
  CHECK(child.head->system.find("cannot ask") != std::string::npos);
  d.feed(input::child_done{starts[0].call, "scout", "fast", true, outcome::make_completed("found")});
  CHECK(only_result(d) ==
        nlohmann::json{{"status", "completed"}, {"name", "scout"}, {"model", "fast"}, {"result", "found"}});
}

TEST_CASE("what a spawned child cannot have is an error that names it, and nothing starts") {
  auto spec = deep_root();
  spec.spawn->allowed_tools = {"lookup"};
  driver d{build(spec)};
  d.start();
  auto call = [](const char* arguments) { return call_of("spawn_subagent", arguments); };
  auto commands = d.feed(input::model_done{answer({
      call(R"({"name":"a","goal":"g","tool_names":["nope"]})"),
      call(R"({"name":"b","goal":"g","tool_names":["fetch"]})"),
      call(R"({"name":"c","goal":"g","model":"huge"})"),
      call(R"({"name":"reviewer","goal":"g"})"),
      call(R"({"name":"root","goal":"g"})"),
      call(R"({"name":"d","goal":"g","skill_names":["s"]})"),
      call(R"({"name":"not a name","goal":"g"})"),
      call(R"({"name":"e","goal":"g","tool_names":["spawn_subagent"]})"),
  })});
  CHECK(driver::of<command::start_child>(commands).empty());
  auto r = d.events<tool_result_body>();
  REQUIRE(r.size() == 8);
  const errc expected[] = {errc::unknown_tool, errc::not_allowed,   errc::unknown_model, errc::name_clash,
                           errc::name_clash,   errc::unknown_skill, errc::bad_arguments, errc::unknown_tool};
  for (std::size_t i = 0; i < r.size(); ++i) {
    CHECK(r[i].code == expected[i]);
    auto j = nlohmann::json::parse(r[i].text);
    CHECK(j["status"] == "error");
    CHECK(j.size() == 3);
    CHECK(j.contains("error"));
  }
}

TEST_CASE("of two equal names in one turn the later call gets the error") {
  driver d{build(deep_root())};
  d.start();
  auto commands =
      d.feed(input::model_done{answer({call_of("spawn_subagent", R"({"name":"twin","goal":"g"})"),
                                       call_of("spawn_subagent", R"({"name":"twin","goal":"g"})")})});
  auto starts = driver::of<command::start_child>(commands);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].call == call_id{"c0-0-0"});
  CHECK(d.events<tool_result_body>().at(0).code == errc::name_clash);
}

TEST_CASE("no child is offered a tool that delegates, and naming one is an error at load") {
  auto spec = deep_root();
  spec.subagents[0].tools = {"*"};
  auto profile = build(spec);
  const auto& child = *profile->tools.at("reviewer").child;
  CHECK(child.tools.contains("lookup"));
  CHECK(!child.tools.contains("spawn_subagent"));
  CHECK(!child.tools.contains("invoke_agent"));
  CHECK(!child.tools.contains("reviewer"));
  spec.subagents[0].tools = {"spawn_subagent"};
  auto built = build_root(spec, environment());
  REQUIRE(!built);
  CHECK(built.failure().code == errc::not_allowed);
}

TEST_CASE("what does not fit together is an error when the root is built") {
  auto fails_with = [](const root_spec& spec) {
    auto built = build_root(spec, environment());
    REQUIRE(!built);
    return built.failure().code;
  };
  auto spec = deep_root();
  spec.model = "fsat";
  CHECK(fails_with(spec) == errc::unknown_model);
  spec = deep_root();
  spec.tools.emplace_back("reed_file");
  CHECK(fails_with(spec) == errc::unknown_tool);
  spec = deep_root();
  spec.subagents.push_back({.name = "reviewer", .goal = "again"});
  CHECK(fails_with(spec) == errc::name_clash);
  spec = deep_root();
  spec.subagents.push_back({.name = "lookup", .goal = "named like a tool"});
  CHECK(fails_with(spec) == errc::name_clash);
  spec = deep_root();
  spec.subagents.push_back({.name = "user", .goal = "g"});
  CHECK(fails_with(spec) == errc::bad_definition);
  spec = deep_root();
  spec.subagents.push_back({.name = "aimless"});
  CHECK(fails_with(spec) == errc::bad_definition);
}

TEST_CASE("invoke_agent maps the prompt to the child's input schema and checks it") {
  auto with = environment();
  auto one = std::make_shared<agent_definition>();
  one->name = "one-key";
  one->description = "takes a query";
  one->instruction = "i";
  one->input_schema = {
      {"type", "object"}, {"properties", {{"query", {{"type", "string"}}}}}, {"required", {"query"}}};
  auto two = std::make_shared<agent_definition>(*one);
  two->name = "two-keys";
  two->input_schema["properties"]["other"] = {{"type", "string"}};
  with.agents = {one, two};
  driver d{build(root(), with)};
  d.start();
  auto call = [](const char* name) {
    return call_of("invoke_agent", std::string{R"({"prompt":"p","agent_name":")"} + name + "\"}");
  };
  auto commands = d.feed(input::model_done{answer({call("one-key"), call("two-keys"), call("nobody")})});
  auto starts = driver::of<command::start_child>(commands);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].profile->name == "one-key");
  auto r = d.events<tool_result_body>();
  REQUIRE(r.size() == 2);
  CHECK(r[0].code == errc::bad_arguments);
  CHECK(r[1].code == errc::unknown_agent);
}

TEST_CASE("in task mode only finish_task ends the child; text is nudged, then the outcome is protocol") {
  auto spec = deep_root();
  spec.subagents[0].mode = agent_mode::task;
  spec.subagents[0].output_schema = {
      {"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}, {"required", {"n"}}};
  auto child = build(spec)->tools.at("reviewer").child;
  driver d{child, 3};
  d.start();
  SUBCASE("finish_task gives the checked object") {
    d.feed(input::model_done{answer({call_of("finish_task", R"({"n":"x"})")})});
    CHECK(d.events<tool_result_body>().at(0).is_error);
    d.feed(input::model_done{answer({call_of("finish_task", R"({"n":7})")})});
    auto end = d.events<agent_ended_body>().at(0).outcome;
    CHECK(end.completed());
    CHECK(end.value() == nlohmann::json{{"n", 7}});
    CHECK(d.state.phase == agent_phase::ended);
  }
  SUBCASE("text is nudged twice") {
    for (int i = 0; i < 2; ++i) {
      auto commands = d.feed(input::model_done{answer({text_of("thinking aloud")})});
      CHECK(driver::of<command::call_model>(commands).size() == 1);
    }
    d.feed(input::model_done{answer({text_of("still here")})});
    CHECK(d.events<agent_ended_body>().at(0).outcome.code() == errc::protocol);
  }
  SUBCASE("the grace call offers finish_task alone, and its result counts as recovered") {
    d.feed(input::deadline{input::deadline_kind::run});
    auto request = build_request(*child, d.state);
    REQUIRE(request.head->tools.size() == 1);
    CHECK(request.head->tools[0].name == "finish_task");
    d.feed(input::model_done{answer({call_of("finish_task", R"({"n":1})")})});
    auto end = d.events<agent_ended_body>().at(0).outcome;
    CHECK(end.code() == errc::timeout);
    CHECK(end.recovered());
    CHECK(end.value() == nlohmann::json{{"n", 1}});
  }
}
