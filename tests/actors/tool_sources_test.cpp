// Tools that are known only while the agent runs.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/profile_extension.hpp>

#include <doctest/doctest.h>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

// What several sources of a test share: how many are there, and who asked.
struct world {
  int alive = 0;
  std::uint64_t version = 1;
  std::vector<std::function<void(result<std::vector<tool_ptr>>)>> waiting;
};

class held_source final : public tool_source {
 public:
  explicit held_source(world& w) : world_(w) { ++world_.alive; }
  ~held_source() override { --world_.alive; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void open(std::function<void(result<std::vector<tool_ptr>>)> done) override {
    world_.waiting.push_back(std::move(done));
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return world_.version; }

 private:
  world& world_;
  std::string name_ = "files";
};

void give(actor_fixture& f, world& w, std::vector<tool_ptr> tools) {
  REQUIRE_FALSE(w.waiting.empty());
  auto done = std::move(w.waiting.front());
  w.waiting.erase(w.waiting.begin());
  done(std::move(tools));
  f.run();
}

// The profile as a builder leaves it that knows of sources.
agent_profile_ptr offered(const root_spec& spec, std::vector<tool_offer> offers) {
  auto profile = std::make_shared<agent_profile>(*build(spec));
  profile->offers = std::move(offers);
  profile->extended = std::make_shared<profile_extensions>();
  return profile;
}

tool_offer shared(world& w, std::vector<std::string> names = {}) {
  return {std::make_shared<held_source>(w), nullptr, std::move(names)};
}

tool_offer owned(world& w) {
  return {nullptr, [&w] { return std::make_shared<held_source>(w); }, {}};
}

std::vector<std::string> declared(actor_fixture& f, const std::string& agent) {
  auto call = f.model->waiting(agent);
  REQUIRE(call != nullptr);
  std::vector<std::string> names;
  for (const auto& tool : call->request->head->tools)
    names.push_back(tool.name);
  return names;
}

} // namespace

TEST_CASE("the model is called once the agent's sources have answered, and has their tools") {
  world w;
  actor_fixture f;
  auto feed = f.start(offered(root(), {shared(w), shared(w)}));
  CHECK(f.model->calls.empty());
  CHECK(f.events<agent_started_body>().size() == 1);
  CHECK(f.snapshot().sessions.at(0).agents.at(0).waiting_for == "its tools");
  give(f, w, {make_tool("mcp_files_read", "the text")});
  CHECK(f.model->calls.empty());
  give(f, w, {make_tool("mcp_web_get")});
  CHECK(declared(f, "root") == std::vector<std::string>{"mcp_files_read", "mcp_web_get"});
  f.answer("root", answer({call_of("mcp_files_read")}));
  while (f.model->waiting("root") == nullptr)
    f.run();
  CHECK(f.events<tool_result_body>().at(0).text == "the text");
  f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("a source that cannot be used is told once, and the agent goes on without it") {
  world w;
  actor_fixture f;
  f.start(offered(root(), {shared(w), shared(w, {"mcp_files_read", "mcp_files_wrote"})}));
  auto first = std::exchange(w.waiting, {});
  first.at(1)(std::vector<tool_ptr>{make_tool("mcp_files_read"), make_tool("mcp_files_write")});
  first.at(0)(error{errc::connection_failed, "The program ended with code 1."});
  f.run();
  CHECK(declared(f, "root") == std::vector<std::string>{"mcp_files_read"});
  const auto warnings = f.events<warning_body>();
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].message.find("ended with code 1") != std::string::npos);
  CHECK(warnings[1].message.find("mcp_files_wrote") != std::string::npos);
  CHECK(warnings[1].message.find("mcp_files_write") != std::string::npos);
}

TEST_CASE("tools that cannot be used are left out") {
  world w;
  actor_fixture f;
  auto spec = root();
  spec.tools.emplace_back(make_tool("read"));
  auto bad = std::make_shared<tool_definition>(*make_tool("odd"));
  bad->parameters = {{"type", "no such type"}};
  f.start(offered(spec, {shared(w)}));
  give(f, w, {make_tool("read"), tool_ptr{bad}, make_tool("fine")});
  CHECK(declared(f, "root") == std::vector<std::string>{"read", "fine"});
  CHECK(f.events<warning_body>().size() == 2);
}

TEST_CASE("an agent is cancelled, or runs out of time, while its sources do not answer") {
  world w;
  actor_fixture f;
  auto spec = root();
  spec.limits.timeout = 10s;
  auto feed = f.start(offered(spec, {shared(w)}));
  SUBCASE("cancelled") {
    f.cancel();
    CHECK(feed->result()->cancelled());
  }
  SUBCASE("out of time") {
    f.advance(10s);
    f.advance(60s);
    CHECK(feed->result()->code() == errc::timeout);
  }
  const auto calls = f.model->calls.size();
  give(f, w, {make_tool("late")});
  CHECK(f.model->calls.size() == calls);
  // The next run asks again.
  f.start(offered(spec, {shared(w)}), "again");
  give(f, w, {make_tool("soon")});
  CHECK(declared(f, "root") == std::vector<std::string>{"soon"});
}

TEST_CASE("tools that changed are there at the next model call") {
  world w;
  actor_fixture f;
  f.start(offered(root(), {shared(w)}));
  give(f, w, {make_tool("one")});
  f.answer("root", answer({call_of("nothing")}));
  CHECK(declared(f, "root") == std::vector<std::string>{"one"});
  w.version = 2;
  f.answer("root", answer({call_of("nothing")}));
  CHECK(f.model->waiting("root") == nullptr);
  give(f, w, {make_tool("two")});
  CHECK(declared(f, "root") == std::vector<std::string>{"two"});
}

TEST_CASE("a source that changes all the time holds up no model call") {
  world w;
  actor_fixture f;
  f.start(offered(root(), {shared(w)}));
  w.version = 2; // while it is being asked
  give(f, w, {make_tool("one")});
  CHECK(declared(f, "root") == std::vector<std::string>{"one"});
}

TEST_CASE("a source of one agent alone ends with it, however it ends") {
  world w;
  actor_fixture f;
  auto feed = f.start(offered(root(), {}), "go");
  f.answer("root", answer({text_of("no child yet")}));
  auto spec = root();
  spec.subagents = {{.name = "worker", .goal = "Work."}};
  auto profile = std::make_shared<agent_profile>(*build(spec));
  auto child = std::make_shared<agent_profile>(*profile->tools.at("worker").child);
  child->offers = {owned(w)};
  profile->tools.at("worker").child = child;
  f.start(profile, "go");
  f.answer("root",
           answer({call_of("worker", R"({"request":"a"})"), call_of("worker", R"({"request":"b"})"),
                   call_of("worker", R"({"request":"c"})"), call_of("worker", R"({"request":"d"})")}));
  CHECK(w.alive == 4);
  give(f, w, {make_tool("own")});
  give(f, w, {make_tool("own")});
  give(f, w, {make_tool("own")});
  f.answer("worker", answer({text_of("done")}));
  CHECK(w.alive == 3);
  f.model->crashes["worker"] = 1; // the next model call of one of them throws
  f.answer("worker", answer({call_of("nothing")}));
  CHECK(w.alive == 2);
  f.cancel(); // one has its tools, one still waits for them
  CHECK(w.alive == 0);
}

TEST_CASE("agents that are made up can have the tools of sources, by name") {
  world w;
  actor_fixture f;
  auto spec = root();
  spec.spawn = spawn_config{};
  f.start(offered(spec, {shared(w)}));
  give(f, w, {make_tool("mcp_files_read"), make_tool("mcp_files_write")});
  bool named = false;
  for (const auto& tool : f.model->waiting("root")->request->head->tools)
    named = named || (tool.name == "spawn_subagent" &&
                      tool.parameters.dump().find("mcp_files_write") != std::string::npos);
  CHECK(named);
  f.answer("root", answer({call_of("spawn_subagent",
                                   R"({"name":"reader","goal":"Read.","tool_names":["mcp_files_read"]})")}));
  CHECK(declared(f, "reader") == std::vector<std::string>{"mcp_files_read"});
}

TEST_CASE("agents with the same tools share one profile") {
  const auto base = build(root());
  profile_extensions extensions;
  const std::vector<tool_ptr> tools{make_tool("one")};
  const auto first = extensions.get(base, tools).profile;
  CHECK(extensions.get(base, tools).profile == first);
  CHECK(extensions.get(base, {make_tool("one")}).profile != first);
  CHECK(extend_profile(base, {}).profile == base);
}

TEST_CASE("an agent that is resumed asks its sources before it takes up its calls") {
  world w;
  actor_fixture f;
  int runs = 0;
  auto counted = std::make_shared<tool_definition>(*make_tool("mcp_files_read"));
  counted->run = nullptr;
  counted->start = [&runs](auto, auto, auto) { ++runs; };
  const auto profile = offered(root(), {shared(w)});
  f.start(profile);
  give(f, w, {tool_ptr{counted}});
  f.answer("root", answer({call_of("mcp_files_read")}));
  CHECK(runs == 1);
  f.restart();
  auto feed = f.resume(profile);
  CHECK(runs == 1);
  give(f, w, {tool_ptr{counted}});
  CHECK(runs == 2); // read-only: it runs again
  CHECK(f.events<tool_result_body>().empty());
  f.cancel();
  CHECK(feed->result()->cancelled());
}
