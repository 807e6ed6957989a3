// The pure core: one child from start to end, the conversation, the argument check.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/function_model.hpp>
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/profile_builder.hpp>
#include <troupe/runtime/transcript.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <benchmark/benchmark.h>

#include <stdexcept>

namespace {

using namespace troupe;

agent_profile_ptr make_profile() {
  tool_definition lookup;
  lookup.name = "lookup";
  lookup.description = "Looks up one item.";
  lookup.parameters = {
      {"type", "object"}, {"properties", {{"i", {{"type", "integer"}}}}}, {"required", {"i"}}};
  lookup.annotations = {.read_only = true};
  lookup.run = [](const nlohmann::json&, tool_context&) { return tool_result{"v", {}, {}}; };
  root_spec spec;
  spec.name = "child";
  spec.model = "fast";
  spec.instruction = "You are an agent.";
  spec.tools = {std::make_shared<const tool_definition>(std::move(lookup))};
  build_environment environment;
  environment.models = {{"fast", ""}};
  auto built = build_root(spec, environment);
  if (!built)
    throw std::runtime_error{to_string(built.failure())};
  return built->profile;
}

event_origin_ptr make_origin() {
  auto origin = std::make_shared<event_origin>();
  origin->session = session_id{"bench"};
  origin->run = make_run_id(origin->session, 1);
  origin->agent = make_agent_id(origin->session, 1);
  origin->number = 1;
  origin->author = "child";
  origin->branch = "root.child";
  return origin;
}

// Feeds one input, folds its events and answers the calls that follow.
class driver {
 public:
  explicit driver(agent_profile_ptr profile) : profile_(std::move(profile)) { state_.number = 1; }

  std::size_t feed(const agent_input& in) {
    auto decided = decide(*profile_, state_, in);
    auto batch = make_events(decided, origin_, state_, timestamp{});
    for (const auto& e : batch)
      state_ = apply(std::move(state_), e);
    auto events = batch.size();
    for (const auto& c : decided.commands)
      if (const auto* call = std::get_if<command::call_tool>(&c))
        events += feed(input::tool_done{call->call, {"v", {}, {}}});
    return events;
  }

  [[nodiscard]] const agent_state& state() const noexcept { return state_; }

 private:
  agent_profile_ptr profile_;
  event_origin_ptr origin_ = make_origin();
  agent_state state_;
};

void child_of_three_turns(benchmark::State& bench) {
  const auto profile = make_profile();
  const auto request = std::make_shared<const content>(make_text(role::user, "Look up two items."));
  const auto call = call_response("lookup", {{"i", 1}});
  const auto text = text_response("child-ok");
  std::size_t events = 0;
  for (auto _ : bench) {
    driver child{profile};
    events += child.feed(input::start{request, "prebuilt", 0, false});
    events += child.feed(input::model_done{call});
    events += child.feed(input::model_done{call});
    events += child.feed(input::model_done{text});
    benchmark::DoNotOptimize(child.state());
  }
  bench.counters["events"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}
BENCHMARK(child_of_three_turns);

void request_of_a_long_conversation(benchmark::State& bench) {
  const auto profile = make_profile();
  driver agent{profile};
  (void)agent.feed(
      input::start{std::make_shared<const content>(make_text(role::user, "go")), "root", 0, false});
  for (int i = 0; i < 10; ++i)
    (void)agent.feed(input::model_done{call_response("lookup", {{"i", i}})});
  for (auto _ : bench)
    benchmark::DoNotOptimize(build_request(*profile, agent.state()));
}
BENCHMARK(request_of_a_long_conversation);

void transcript_append(benchmark::State& bench) {
  const auto item = std::make_shared<const content>(make_text(role::user, "text"));
  for (auto _ : bench) {
    transcript t;
    for (int i = 0; i < 64; ++i)
      t.append(item);
    benchmark::DoNotOptimize(t.size());
  }
  bench.SetItemsProcessed(bench.iterations() * 64);
}
BENCHMARK(transcript_append);

void transcript_copy(benchmark::State& bench) {
  transcript t;
  for (std::int64_t i = 0; i < bench.range(0); ++i)
    t.append(make_text(role::user, "text"));
  for (auto _ : bench) {
    auto copy = t;
    benchmark::DoNotOptimize(copy.size());
  }
}
BENCHMARK(transcript_copy)->Arg(16)->Arg(256)->Arg(4096);

void schema_check(benchmark::State& bench) {
  const auto compiled = json_schema::compile({
      {"type", "object"},
      {"properties",
       {{"sql", {{"type", "string"}, {"minLength", 1}}},
        {"limit", {{"type", "integer"}, {"minimum", 1}, {"maximum", 1000}}},
        {"tags", {{"type", "array"}, {"items", {{"type", "string"}}}}}}},
      {"required", {"sql"}},
      {"additionalProperties", false},
  });
  const nlohmann::json value = {{"sql", "select 1"}, {"limit", 10}, {"tags", {"a", "b", "c"}}};
  for (auto _ : bench)
    benchmark::DoNotOptimize(compiled->valid(value));
}
BENCHMARK(schema_check);

} // namespace
