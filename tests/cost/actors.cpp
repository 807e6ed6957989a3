// A run with its actors, on CAF's deterministic coordinator: a root, and children of three turns with two tool calls.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/function_model.hpp>

#include <memory>

#include "cost/workloads.hpp"
#include "support/actor_fixture.hpp"

namespace troupe::cost {
namespace {

using namespace troupe::test;

constexpr int children = 30;

// Answers as it is asked.
class instant_model final : public model_provider {
 public:
  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    sink->on_done(answer_to(*request));
    return std::make_unique<model_call>();
  }

 private:
  static model_response answer_to(const model_request& request) {
    if (request.agent == "child")
      return request.turn < 2 ? call_response("lookup", {{"i", 1}}) : text_response("child-ok");
    if (request.turn > 0)
      return text_response("all done");
    std::vector<part> calls;
    for (int i = 0; i < children; ++i)
      calls.push_back(call_of("child", R"({"request":"work"})"));
    return answer(std::move(calls));
  }
};

agent_profile_ptr fan_out() {
  subagent_spec child;
  child.name = "child";
  child.instruction = "You are a test.";
  child.model = "instant";
  child.description = "Works.";
  tool_annotations inline_call{.read_only = true};
  inline_call.runs_inline = true;
  child.tools = {make_tool("lookup", "v", inline_call)};
  auto spec = root();
  spec.model = "instant";
  spec.subagents.push_back(std::move(child));
  auto with = environment();
  with.models["instant"];
  return build(spec, with);
}

work run_with_children() {
  return [profile = fan_out()] {
    actor_fixture f;
    f.models->put("instant", {std::make_shared<instant_model>(), "instant", f.gate, f.gateway, {}, {}, {}});
    const auto feed = f.start(profile);
    REQUIRE(feed->result());
    REQUIRE(feed->result()->completed());
  };
}

} // namespace

void add_actors(workloads& to) {
  to["actors: a run with 30 children of three turns"] = run_with_children;
}

} // namespace troupe::cost
