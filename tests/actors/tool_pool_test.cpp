// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <latch>
#include <thread>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

// A tool that says that it runs and then waits until the test lets it go, or until it is asked to stop.
struct gate {
  std::latch begun{1};
  std::latch open{1};
  std::atomic<bool> stopped{false};

  tool_ptr tool(const std::string& name, tool_annotations annotations = {.read_only = true}) {
    auto t = std::make_shared<tool_definition>(*make_tool(name, "ok", std::move(annotations)));
    t->run = [this](const nlohmann::json&, tool_context& context) {
      begun.count_down();
      open.wait();
      stopped = context.stop.stop_requested();
      return tool_result{"let go", {}, {}};
    };
    return t;
  }
};

root_spec with(const tool_ptr& tool) {
  auto spec = root();
  spec.tools.emplace_back(tool);
  return spec;
}

// The threads report by messages: runs jobs until the condition holds.
template <class F>
void run_until(actor_fixture& f, F done) {
  while (!done()) {
    f.run();
    std::this_thread::yield();
  }
}

} // namespace

TEST_CASE("a tool that may block runs off the scheduler and gives its result to the agent") {
  gate g;
  actor_fixture f;
  auto feed = f.start(build(with(g.tool("slow"))));
  f.answer("root", answer({call_of("slow")}));
  g.begun.wait();
  CHECK(f.events<tool_result_body>().empty());
  g.open.count_down();
  run_until(f, [&] { return f.model->waiting("root") != nullptr; });
  CHECK(f.events<tool_result_body>().at(0).text == "let go");
  f.answer("root", answer({text_of("end")}));
  CHECK(feed->result()->completed());
}

TEST_CASE("a tool beyond its deadline is answered with timeout and asked to stop; its late result changes "
          "nothing") {
  gate g;
  actor_fixture f;
  f.start(build(with(g.tool("hang", {.read_only = true, .timeout = 10s}))));
  f.answer("root", answer({call_of("hang")}));
  g.begun.wait();
  f.advance(9s);
  CHECK(f.events<tool_result_body>().empty());
  f.advance(2s);
  auto r = f.events<tool_result_body>();
  REQUIRE(r.size() == 1);
  CHECK(r[0].code == errc::timeout);
  CHECK(f.model->waiting("root") != nullptr);
  g.open.count_down();
  run_until(f, [&] { return g.stopped.load(); });
  f.run();
  CHECK(f.events<tool_result_body>().size() == 1);
}

TEST_CASE("a stuck call is replaced by another thread, so other calls go on") {
  gate hang[3];
  actor_fixture f;
  auto spec = root();
  for (int i = 0; i < 3; ++i)
    spec.tools.emplace_back(hang[i].tool("hang_" + std::to_string(i), {.read_only = true, .timeout = 1s}));
  spec.tools.emplace_back(make_tool("quick"));
  f.start(build(spec));
  // The fixture has two threads: three calls hang, one after the other gives its thread up for lost.
  f.answer("root", answer({call_of("hang_0"), call_of("hang_1")}));
  hang[0].begun.wait();
  hang[1].begun.wait();
  f.advance(2s);
  CHECK(f.events<tool_result_body>().size() == 2);
  f.answer("root", answer({call_of("quick")}));
  run_until(f, [&] { return f.events<tool_result_body>().size() == 3; });
  CHECK(f.events<tool_result_body>().back().text == "ok");
  hang[0].open.count_down();
  hang[1].open.count_down();
}

TEST_CASE("calls of one exclusive group run one at a time") {
  gate first;
  gate second;
  actor_fixture f;
  auto spec = root();
  spec.tools.emplace_back(first.tool("a", {.read_only = true, .exclusive_group = "disk"}));
  spec.tools.emplace_back(second.tool("b", {.read_only = true, .exclusive_group = "disk"}));
  f.start(build(spec));
  f.answer("root", answer({call_of("a"), call_of("b")}));
  first.begun.wait();
  CHECK(!second.begun.try_wait());
  second.open.count_down();
  first.open.count_down();
  run_until(f, [&] { return f.events<tool_result_body>().size() == 2; });
  CHECK(second.begun.try_wait());
}

TEST_CASE("cancelling the run asks its tools to stop and does not wait for them") {
  gate g;
  actor_fixture f;
  auto feed = f.start(build(with(g.tool("slow"))));
  f.answer("root", answer({call_of("slow")}));
  g.begun.wait();
  f.cancel();
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->cancelled());
  g.open.count_down();
  run_until(f, [&] { return g.stopped.load(); });
}

TEST_CASE(
    "threads of calls that come back late are not kept, and cancelled calls that hang are replaced too") {
  gate g[2];
  actor_fixture f;
  auto spec = root();
  for (int i = 0; i < 2; ++i)
    spec.tools.emplace_back(g[i].tool("hang_" + std::to_string(i), {.read_only = true, .timeout = 1s}));
  spec.tools.emplace_back(make_tool("quick"));
  f.start(build(spec));
  f.answer("root", answer({call_of("hang_0"), call_of("hang_1")}));
  g[0].begun.wait();
  g[1].begun.wait();
  f.cancel(); // both threads are lost, and nobody waits for their calls
  f.advance(2s);
  f.start(build(spec), "again");
  f.answer("root", answer({call_of("quick")}));
  run_until(f, [&] { return f.model->waiting("root") != nullptr; });
  CHECK(f.events<tool_result_body>().back().text == "ok");
  for (auto& each : g)
    each.open.count_down();
}
