// What happens to every event on its way out: JSON, the sanitiser, the live tree; and the stream that comes in.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/event.hpp>
#include <troupe/net/sse_parser.hpp>
#include <troupe/runtime/activity_tree.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <benchmark/benchmark.h>

namespace {

using namespace troupe;

event_origin_ptr make_origin(agent_number number) {
  auto origin = std::make_shared<event_origin>();
  origin->session = session_id{"bench"};
  origin->run = make_run_id(origin->session, 1);
  origin->agent = make_agent_id(origin->session, number);
  origin->number = number;
  origin->author = "child";
  origin->branch = "root.child";
  return origin;
}

event make_event(const event_origin_ptr& origin, std::uint32_t index, event_body body) {
  event e;
  e.seq = index;
  e.index = index;
  e.origin = origin;
  e.body = std::move(body);
  return e;
}

void event_to_json(benchmark::State& bench) {
  const auto e =
      make_event(make_origin(1), 1, tool_call_body{1, {}, "read_file", R"({"path":"src/main.cpp"})", {}});
  for (auto _ : bench)
    benchmark::DoNotOptimize(nlohmann::json(e).dump());
}
BENCHMARK(event_to_json);

void sanitize(benchmark::State& bench) {
  std::string text;
  while (text.size() < static_cast<std::size_t>(bench.range(0)))
    text += "The file src/main.cpp has 120 lines; max_tokens: 4096, author: someone. ";
  text += "api_key=abcdefghijklmnop";
  for (auto _ : bench)
    benchmark::DoNotOptimize(sanitize_text(text));
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(sanitize)->Arg(100)->Arg(10'000);

// The events of a child with three turns, for each of many children, through collector and tree.
void activity_of_children(benchmark::State& bench) {
  const auto count = static_cast<agent_number>(bench.range(0));
  std::vector<event_batch_ptr> batches;
  for (agent_number number = 1; number <= count; ++number) {
    const auto origin = make_origin(number);
    event_batch batch;
    batch.push_back(make_event(origin, 1, agent_started_body{"child", "prebuilt", "fast", 0, false}));
    for (std::uint32_t i = 2; i < 6; i += 2) {
      batch.push_back(make_event(origin, i, tool_call_body{i, {}, "lookup", "{}", {}}));
      batch.push_back(make_event(origin, i + 1, tool_result_body{{}, "lookup", "v", false, {}}));
    }
    batch.push_back(make_event(origin, 6, model_text_body{3, "child-ok", {}}));
    batch.push_back(make_event(origin, 7, agent_ended_body{outcome::make_completed("child-ok"), 3}));
    batches.push_back(std::make_shared<const event_batch>(std::move(batch)));
  }
  for (auto _ : bench) {
    activity_collector collector{session_id{"bench"}};
    activity_tree tree;
    for (const auto& batch : batches) {
      collector.add(batch);
      if (const auto delta = collector.take())
        tree.merge(std::move(*delta));
    }
    benchmark::DoNotOptimize(tree.totals());
  }
  bench.SetItemsProcessed(bench.iterations() * static_cast<std::int64_t>(count) * 7);
}
BENCHMARK(activity_of_children)->Arg(100)->Arg(10'000);

class counter : public net::sse_events {
 public:
  void on_event(std::string_view, std::string_view data) override { bytes += data.size(); }
  std::size_t bytes = 0;
};

void sse(benchmark::State& bench) {
  std::string stream;
  for (int i = 0; i < 200; ++i)
    stream += "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,"
              "\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n";
  const auto piece = static_cast<std::size_t>(bench.range(0));
  for (auto _ : bench) {
    net::sse_parser parser;
    counter events;
    for (std::size_t at = 0; at < stream.size(); at += piece)
      benchmark::DoNotOptimize(parser.feed(std::string_view{stream}.substr(at, piece), events));
    benchmark::DoNotOptimize(events.bytes);
  }
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(stream.size()));
  bench.SetItemsProcessed(bench.iterations() * 200);
}
BENCHMARK(sse)->Arg(16)->Arg(1400)->Arg(16'384);

} // namespace

BENCHMARK_MAIN();
