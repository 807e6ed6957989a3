// Workloads with a model in the process: what the runtime costs by itself.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "bare_caf.hpp"
#include "measure.hpp"
#include "team.hpp"
#include "workloads.hpp"

namespace troupe::bench {
namespace {

using nlohmann::json;

constexpr std::size_t memory_points = 10; // of a spawn over many sessions
constexpr int most_tries = 1000;          // to remove a session

// The root spawns `batch` children a turn until `n` have been; a child answers at once.
model_response fan_out_turn(const model_request& request, std::uint64_t n, std::uint32_t batch) {
  if (request.agent != "root")
    return text_response("done");
  const auto begun = std::uint64_t{request.turn} * batch;
  if (begun >= n)
    return text_response("all done");
  model_response response;
  response.finish = finish_reason::tool_calls;
  const auto calls = std::min<std::uint64_t>(batch, n - begun);
  for (std::uint64_t i = 0; i < calls; ++i)
    response.parts.push_back({tool_call_part{{}, "child", R"({"request":"work"})"}, {}});
  return response;
}

deep_agent fan_out_root(std::uint64_t n, std::uint64_t turns) {
  deep_agent spec;
  spec.name = "root";
  spec.model = "inside";
  spec.instruction = "You are an agent.";
  spec.run.max_children = static_cast<std::uint32_t>(std::min<std::uint64_t>(n, UINT32_MAX));
  spec.limits.max_turns = static_cast<std::uint32_t>(turns + 2);
  spec.limits.timeout = std::chrono::hours{1};
  spec.subagents = {{.name = "child", .instruction = "You are an agent.", .description = "Works."}};
  return spec;
}

// Runs one session, and removes it where asked; gives what went wrong.
std::string spawn_session(runtime& rt, const agent& root, bool removed) {
  auto run = root.run("go");
  auto result = run.outcome();
  if (!result.completed())
    return result.detail();
  if (!removed)
    return {};
  if (!rt.session(run.session().str()).suspend())
    return "The session did not stop.";
  // The writer closes the session a moment after it has told that it stopped.
  auto gone = rt.engine().store()->remove(run.session());
  for (int i = 0; i < most_tries && !gone; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    gone = rt.engine().store()->remove(run.session());
  }
  return gone ? std::string{} : gone.failure().message;
}

// The median of three, which differ by half and more on a machine that is not left alone.
double bare_rate(std::uint64_t n) {
  std::array<double, 3> rates{};
  for (auto& rate : rates)
    rate = bare_one_shots_per_s(n);
  std::sort(rates.begin(), rates.end());
  return rates[1];
}

void print(const json& line) {
  std::printf("%s\n", line.dump().c_str());
}

} // namespace

int run_spawn(const spawn_options& options) {
  const double bare = options.bare_n > 0 ? bare_rate(options.bare_n) : 0;
  runtime rt;
  const auto sessions = std::max<std::uint64_t>(1, options.sessions);
  const auto each = std::max<std::uint64_t>(1, options.n / sessions);
  const auto total = each * sessions;
  rt.add_model("inside", function_model(
                             [each, batch = options.batch](const model_request& request) {
                               return fan_out_turn(request, each, batch);
                             },
                             rt.clock()));
  auto root = rt.create_deep_agent(fan_out_root(each, each / options.batch + 1));
  std::vector<double> memory;
  std::string problem;
  stopwatch watch;
  for (std::uint64_t i = 0; i < sessions && problem.empty(); ++i) {
    problem = spawn_session(rt, root, sessions > 1);
    if ((i + 1) * memory_points / sessions > memory.size())
      memory.push_back(resident_mb());
  }
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  auto snapshot = rt.engine().snapshot({});
  const auto done = snapshot ? snapshot->totals.completed : 0;
  const bool ok = problem.empty() && done == total + sessions;
  const double rate = static_cast<double>(total) / wall;
  json line = {{"bench", "spawn"},
               {"n_children", total},
               {"sessions", sessions},
               {"wall_s", wall},
               {"cpu_s", cpu},
               {"children_per_s", rate},
               {"bare_caf_per_s", bare},
               {"cpu_us_per_child", cpu * 1e6 / static_cast<double>(total)},
               {"resident_mb", memory},
               {"peak_rss_mb", peak_rss_mb()},
               {"ok", ok}};
  if (!problem.empty())
    line["note"] = problem;
  print(line);
  return ok ? 0 : 1;
}

int run_flood(const flood_options& options) {
  runtime rt;
  rt.add_model("inside", function_model(
                             [&options](const model_request& request) {
                               return fan_out_turn(request, options.n, options.n);
                             },
                             rt.clock(), std::chrono::milliseconds{options.latency_ms}));
  auto root = rt.create_deep_agent(fan_out_root(options.n, 1));
  stopwatch watch;
  auto run = root.run("go");
  std::jthread reader;
  if (options.slow_reader)
    reader = std::jthread{[&run](const std::stop_token& stop) {
      for (auto at = run.begin(); at != run.end() && !stop.stop_requested(); ++at)
        for (int i = 0; i < 100 && !stop.stop_requested(); ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }};
  auto result = run.outcome();
  const double wall = watch.wall();
  auto snapshot = rt.engine().snapshot({});
  auto log = count_log(*rt.engine().store(), run.session());
  const bool counts_equal = snapshot && snapshot->totals == log;
  const bool ok = result.completed() && counts_equal && log.completed == options.n + 1;
  print({{"bench", "flood"},
         {"n_children", options.n},
         {"wall_s", wall},
         {"cpu_s", watch.cpu()},
         {"peak_rss_mb", peak_rss_mb()},
         {"events", log.total_events()},
         {"observer_equals_journal", counts_equal},
         {"ok", ok}});
  return ok ? 0 : 1;
}

} // namespace troupe::bench
