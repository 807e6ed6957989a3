// The pure core: one child from start to end, the conversation, the argument check.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_schema.hpp>
#include <troupe/runtime/transcript.hpp>

#include <benchmark/benchmark.h>

#include "support/bare_driver.hpp"

namespace {

using namespace troupe;
using namespace troupe::test;

agent_profile_ptr make_profile() {
  return looking_up(
      {{"type", "object"}, {"properties", {{"i", {{"type", "integer"}}}}}, {"required", {"i"}}});
}

void child_of_three_turns(benchmark::State& bench) {
  const auto profile = make_profile();
  const three_turns said;
  std::size_t events = 0;
  for (auto _ : bench) {
    bare_driver child{profile};
    events += said.play(child);
    benchmark::DoNotOptimize(child.state());
  }
  bench.counters["events"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}
BENCHMARK(child_of_three_turns);

void request_of_a_long_conversation(benchmark::State& bench) {
  const auto agent = after_turns(make_profile(), 10);
  for (auto _ : bench)
    benchmark::DoNotOptimize(build_request(agent.profile(), agent.state()));
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
