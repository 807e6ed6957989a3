// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <atomic>
#include <cstdio>
#include <optional>
#include <vector>

#include "delays.hpp"
#include "follower.hpp"
#include "measure.hpp"
#include "team.hpp"
#include "workloads.hpp"

namespace troupe::bench {
namespace {

using nlohmann::json;

constexpr std::chrono::minutes run_limit{10};
constexpr std::uint32_t paced_chunk_us = 20; // between two chunks of all streams together

struct tally {
  std::uint32_t ok = 0;
  std::uint64_t events = 0; // W5: streamed pieces that the consumer got
  std::string note;         // what went wrong first
  stream_delays delays{};   // W5P
};

int default_latency(const std::string& workload) {
  return workload == "W1" || workload == "W3" || workload == "W4" ? 100 : 0;
}

int turns_of(const std::string& workload) {
  return workload == "W3" ? 5 : workload == "W4" ? 7 : workload.starts_with("W5") ? 1 : 3;
}

std::string stream_directive(const http_options& options, std::uint32_t i, int latency) {
  json directive = {{"plan", "stream"},
                    {"i", i},
                    {"chunks", options.chunks},
                    {"flush_each", true},
                    {"chunk_gap_us", options.chunk_gap_us},
                    {"latency_ms", latency}};
  if (options.workload == "W5P")
    directive.update(
        {{"stamp", true}, {"chunk_gap_us", paced_chunk_us * options.n}, {"offset_us", paced_chunk_us * i}});
  // "plan" stands first: that is how a directive is found.
  directive.erase("plan");
  return R"({"plan":"stream",)" + directive.dump().substr(1);
}

void take(tally& sum, const outcome& o, const std::string& mark, std::uint32_t worth) {
  if (o.completed() && o.text().find(mark) != std::string::npos)
    sum.ok += worth;
  else if (sum.note.empty())
    sum.note = o.completed() ? o.text() : o.detail();
}

// One root that fans out to n children in one turn.
tally fan_out(runtime& rt, const http_options& options, int latency) {
  deep_agent spec;
  spec.name = "root";
  spec.model = "bench";
  spec.instruction = "You are an agent.";
  spec.run.max_children = std::max(spec.run.max_children, options.n);
  spec.limits.timeout = run_limit;
  spec.subagents = {{.name = "subagent",
                     .instruction = "You are an agent.",
                     .description = "Does one piece of work.",
                     .tools = {lookup()},
                     .limits = {.timeout = run_limit}}};
  auto root = rt.create_deep_agent(std::move(spec));
  const std::string directive =
      R"({"plan":"fanout","n":)" + std::to_string(options.n) +
      R"(,"tool":"subagent","args_key":"request","child_turns":3,"child_tool":"lookup","latency_ms":)" +
      std::to_string(latency) + "}";
  auto run = root.run(directive);
  tally sum;
  take(sum, run.outcome(), "children_ok=" + std::to_string(options.n) + " ", options.n);
  return sum;
}

// n roots of five turns.
tally loops(runtime& rt, const http_options& options, int latency) {
  deep_agent spec;
  spec.name = "worker";
  spec.model = "bench";
  spec.instruction = "You are an agent.";
  spec.tools = {lookup()};
  auto worker = rt.create_deep_agent(std::move(spec));
  std::vector<run> runs;
  runs.reserve(options.n);
  for (std::uint32_t i = 0; i < options.n; ++i)
    runs.push_back(worker.run(R"({"plan":"loop","i":)" + std::to_string(i) +
                              R"(,"turns":5,"tool":"lookup","latency_ms":)" + std::to_string(latency) + "}"));
  tally sum;
  for (const auto& r : runs)
    take(sum, r.outcome(), "loop-ok", 1);
  return sum;
}

// One root that starts n children in the background and goes on for five turns.
tally background(runtime& rt, const http_options& options, int latency) {
  deep_agent spec;
  spec.name = "root";
  spec.model = "bench";
  spec.instruction = "You are an agent.";
  spec.tools = {note()};
  spec.spawn = spawn_config{.tools = {lookup()}};
  spec.run.max_children = std::max(spec.run.max_children, options.n);
  spec.run.max_background = options.n;
  auto root = rt.create_deep_agent(std::move(spec));
  auto run = root.run(R"({"plan":"background","n":)" + std::to_string(options.n) +
                      R"(,"turns":5,"child_turns":3,"child_tool":"lookup","latency_ms":)" +
                      std::to_string(latency) + "}");
  tally sum;
  take(sum, run.outcome(), "children_ok=" + std::to_string(options.n), options.n);
  return sum;
}

// n streams to one consumer.
tally streams(runtime& rt, const http_options& options, int latency) {
  deep_agent spec;
  spec.name = "speaker";
  spec.model = "bench";
  spec.instruction = "You are an agent.";
  auto speaker = rt.create_deep_agent(std::move(spec));
  auto pieces = std::make_shared<std::atomic<std::uint64_t>>(0);
  auto bytes = std::make_shared<std::atomic<std::uint64_t>>(0);
  auto delays = std::make_shared<stream_delays>(); // of the observer's thread until all bytes are there
  const bool paced = options.workload == "W5P";
  auto watch = rt.engine().watch(session_id{}, [pieces, bytes, delays, paced](const partial& p) {
    if (paced)
      delays->take(p.text);
    pieces->fetch_add(1);
    bytes->fetch_add(p.text.size());
  });
  std::vector<run> runs;
  runs.reserve(options.n);
  for (std::uint32_t i = 0; i < options.n; ++i)
    runs.push_back(speaker.run(stream_directive(options, i, latency)));
  tally sum;
  std::uint64_t expected = 0;
  for (const auto& r : runs) {
    auto o = r.outcome();
    expected += o.text().size();
    take(sum, o, "", 1);
  }
  // Every byte reaches the consumer; under load neighbouring pieces arrive as one.
  for (int i = 0; i < 1000 && bytes->load() < expected; ++i)
    (void)rt.engine().snapshot(session_id{"none"});
  if (bytes->load() != expected) {
    sum.ok = 0;
    sum.note =
        "the consumer got " + std::to_string(bytes->load()) + " of " + std::to_string(expected) + " bytes";
  }
  sum.events = pieces->load();
  if (sum.ok > 0)
    sum.delays = *delays;
  return sum;
}

void print(const http_options& options, const tally& sum, double wall, double cpu,
           const activity_counts& totals) {
  const auto events = options.workload.starts_with("W5") ? sum.events : totals.total_events();
  json line = {{"workload", options.workload},
               {"n_children", options.n},
               {"followed", options.follow},
               {"turns", turns_of(options.workload)},
               {"wall_s", wall},
               {"cpu_s", cpu},
               {"peak_rss_mb", peak_rss_mb()},
               {"children_per_s", options.n / wall},
               {"cpu_ms_per_child", cpu * 1000 / options.n},
               {"llm_requests", totals.turns},
               {"tool_calls", totals.count(event_kind::tool_call)},
               {"events", events},
               {"events_per_s", static_cast<double>(events) / wall},
               {"ok", sum.ok == options.n}};
  if (options.workload == "W5P")
    line.update({{"delay_p50_us", percentile(sum.delays.all(), 0.5)},
                 {"delay_p99_us", percentile(sum.delays.all(), 0.99)},
                 {"first_p99_us", percentile(sum.delays.first(), 0.99)}});
  if (!sum.note.empty())
    line["note"] = sum.note.substr(0, 300);
  std::printf("%s\n", line.dump(-1, ' ', false, json::error_handler_t::replace).c_str());
}

} // namespace

int run_http(const http_options& options) {
  raise_file_limit();
  runtime_options settings;
  settings.models = {
      {.id = "bench", .provider = "openai", .model = "fake", .base_url = options.base + "/v1"}};
  runtime rt{std::move(settings)};
  const int latency = options.latency_ms >= 0 ? options.latency_ms : default_latency(options.workload);
  std::optional<follower> page;
  if (options.follow)
    page.emplace(rt.engine());
  stopwatch watch;
  tally sum;
  if (options.workload == "W1" || options.workload == "W2")
    sum = fan_out(rt, options, latency);
  else if (options.workload == "W3")
    sum = loops(rt, options, latency);
  else if (options.workload == "W4")
    sum = background(rt, options, latency);
  else if (options.workload == "W5" || options.workload == "W5P")
    sum = streams(rt, options, latency);
  else {
    std::fprintf(stderr, "troupe: there is no workload '%s'. Workloads: W1, W2, W3, W4, W5, W5P.\n",
                 options.workload.c_str());
    return 2;
  }
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  if (page)
    page->stop();
  auto snapshot = rt.engine().snapshot({});
  print(options, sum, wall, cpu, snapshot ? snapshot->totals : activity_counts{});
  return sum.ok == options.n ? 0 : 1;
}

} // namespace troupe::bench
