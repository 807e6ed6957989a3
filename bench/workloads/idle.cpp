// Many agents that wait for a model: what they hold, and what they cost while nothing happens.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "workloads.hpp"

namespace troupe::bench {
namespace {

using nlohmann::json;

constexpr std::uint32_t calls_a_model = 16'000; // below the runtime's limit of calls of one model at a time
constexpr std::chrono::minutes start_limit{10};
constexpr int most_quiet_tries = 60;
constexpr double quiet_cpu_s = 0.01; // of half a second

// Never answers; counts who waits.
class silent_model final : public model_provider {
 public:
  explicit silent_model(std::shared_ptr<std::atomic<std::uint64_t>> waiting) : waiting_(std::move(waiting)) {}

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    waiting_->fetch_add(1);
    return std::make_unique<call>(std::move(request), std::move(sink));
  }

 private:
  // Holds what a call to a service would.
  struct call final : model_call {
    call(std::shared_ptr<const model_request> r, std::shared_ptr<model_sink> s)
        : request(std::move(r)), sink(std::move(s)) {}
    std::shared_ptr<const model_request> request;
    std::shared_ptr<model_sink> sink;
  };

  std::shared_ptr<std::atomic<std::uint64_t>> waiting_;
};

model_response fan_out(std::uint32_t children) {
  model_response response;
  response.finish = finish_reason::tool_calls;
  for (std::uint32_t i = 0; i < children; ++i)
    response.parts.push_back({tool_call_part{{}, "child", R"({"request":"work"})"}, {}});
  return response;
}

// A root whose children have the silent model of number `model`.
agent make_root(runtime& rt, std::uint32_t model, std::uint32_t children) {
  const auto silent = "silent" + std::to_string(model);
  deep_agent spec;
  spec.name = "root" + std::to_string(model);
  spec.model = "inside";
  spec.instruction = "You are an agent.";
  spec.run.max_children = children;
  spec.limits.timeout = std::chrono::hours{10};
  spec.subagents = {{.name = "child",
                     .instruction = "You are an agent.",
                     .description = "Works.",
                     .model = silent,
                     .limits = {.timeout = std::chrono::hours{10}}}};
  return rt.create_deep_agent(std::move(spec));
}

// Until what came of the start has been done: half a second with hardly any CPU.
void wait_until_quiet() {
  for (int i = 0; i < most_quiet_tries; ++i) {
    const stopwatch watch;
    std::this_thread::sleep_for(std::chrono::milliseconds{500});
    if (watch.cpu() < quiet_cpu_s)
      return;
  }
}

} // namespace

int run_idle(const idle_options& options) {
  const auto each = std::max(1U, options.n / std::max(1U, options.sessions));
  const auto total = std::uint64_t{each} * options.sessions;
  auto waiting = std::make_shared<std::atomic<std::uint64_t>>(0);
  runtime rt;
  rt.add_model("inside", function_model([each](const model_request&) { return fan_out(each); }));
  const double before = resident_mb();
  const auto sessions_a_model = std::max(1U, calls_a_model / each);
  stopwatch watch;
  std::vector<run> runs;
  std::optional<agent> root;
  for (std::uint32_t i = 0; i < options.sessions; ++i) {
    if (i % sessions_a_model == 0) {
      const auto model = i / sessions_a_model;
      rt.add_model("silent" + std::to_string(model), std::make_shared<silent_model>(waiting));
      root = make_root(rt, model, each);
    }
    runs.push_back(root->run("go"));
  }
  while (waiting->load() < total && watch.wall() < std::chrono::duration<double>(start_limit).count())
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  const double begun = watch.wall();
  wait_until_quiet();
  const double resident = resident_mb();
  const stopwatch idle;
  std::this_thread::sleep_for(std::chrono::seconds{options.seconds});
  const double share = idle.wall() > 0 ? idle.cpu() / idle.wall() : 0;
  const bool ok = waiting->load() == total;
  const json line = {{"bench", "idle"},
                     {"agents", waiting->load()},
                     {"sessions", options.sessions},
                     {"start_s", begun},
                     {"resident_mb", resident},
                     {"peak_rss_mb", peak_rss_mb()},
                     {"bytes_per_agent", (resident - before) * 1024 * 1024 / static_cast<double>(total)},
                     {"idle_cpu_percent", share * 100},
                     {"ok", ok}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
  std::_Exit(ok ? 0 : 1); // the end of so many agents is not measured here, and takes long
}

} // namespace troupe::bench
