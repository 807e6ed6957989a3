// What happens to every event on its way out: JSON, the sanitiser, the live tree; and the stream that comes in.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/sanitizer.hpp>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "support/answers.hpp"
#include "support/events.hpp"
#include "support/live_tree.hpp"

namespace {

using namespace troupe;
using namespace troupe::test;

void event_to_json(benchmark::State& bench) {
  const auto batch = make_batch(make_origin(session_id{"bench"}, 1, "child", "root.child"), 1,
                                {tool_call_body{1, {}, "read_file", R"({"path":"src/main.cpp"})", {}}});
  for (auto _ : bench)
    benchmark::DoNotOptimize(nlohmann::json(batch->front()).dump());
}
BENCHMARK(event_to_json);

void sanitize(benchmark::State& bench) {
  const auto text = text_with_key(static_cast<std::size_t>(bench.range(0)));
  for (auto _ : bench)
    benchmark::DoNotOptimize(sanitize_text(text));
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(sanitize)->Arg(100)->Arg(10'000);

// The events of a child with three turns, for each of many children, through collector and tree.
void activity_of_children(benchmark::State& bench) {
  const auto count = static_cast<agent_number>(bench.range(0));
  const auto log = log_of_children(session_id{"bench"}, count);
  for (auto _ : bench)
    benchmark::DoNotOptimize(tree_of(session_id{"bench"}, log).totals());
  bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(count) * 7);
}
BENCHMARK(activity_of_children)->Arg(100)->Arg(10'000);

void sse(benchmark::State& bench) {
  constexpr int chunks = 200;
  const auto stream = openai_stream(chunks);
  const auto pieces = pieces_of(stream, static_cast<std::size_t>(bench.range(0)));
  for (auto _ : bench)
    benchmark::DoNotOptimize(data_bytes(pieces));
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(stream.size()));
  bench.SetItemsProcessed(bench.iterations() * chunks);
}
BENCHMARK(sse)->Arg(16)->Arg(1400)->Arg(16'384);

} // namespace

BENCHMARK_MAIN();
