// How fast the runtime reacts, by a clock in the process: from the answer that holds a tool call to the next request, and
// from a message to an idle process to its request.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>
#include <troupe/troupe.hpp>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "delays.hpp"
#include "measure.hpp"
#include "team.hpp"
#include "workloads.hpp"

namespace troupe::bench {
namespace {

using nlohmann::json;
using steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_wakes{20};

// Answers after a while, and notes when it did and when the next request of the same agent came.
class clocked_model final : public model_provider {
 public:
  using rules = std::function<model_response(const model_request&)>;

  clocked_model(rules answer, timer& clock, std::uint32_t think_ms)
      : answer_(std::move(answer)), clock_(clock), think_ms_(think_ms) {}

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    const auto now = steady::now();
    std::uint32_t spread = 0;
    {
      std::lock_guard lock{mutex_};
      last_start_ = now;
      if (auto found = answered_.find(request->agent_instance); found != answered_.end() && request->turn > 0)
        delays_.push_back(std::chrono::duration<double, std::micro>(now - found->second).count());
      spread = (number_ += 7919) % 1000; // so that agents do not march in step
    }
    const bool child = request->agent != "root";
    const std::chrono::milliseconds wait{child ? think_ms_ / 2 + think_ms_ * spread / 1000 : 0};
    return std::make_unique<call>(clock_.after(wait, [this, request, to = std::move(sink)] {
      auto response = answer_(*request);
      if (request->agent != "root") {
        std::lock_guard lock{mutex_};
        answered_[request->agent_instance] = steady::now();
      }
      to->on_done(std::move(response));
    }));
  }

  [[nodiscard]] std::vector<double> delays() const {
    std::lock_guard lock{mutex_};
    return delays_;
  }
  [[nodiscard]] steady::time_point last_start() const {
    std::lock_guard lock{mutex_};
    return last_start_;
  }

 private:
  struct call final : model_call {
    explicit call(std::unique_ptr<timer_handle> h) : handle(std::move(h)) {}
    std::unique_ptr<timer_handle> handle;
  };

  rules answer_;
  timer& clock_;
  std::uint32_t think_ms_;
  mutable std::mutex mutex_;
  std::uint32_t number_ = 0;
  steady::time_point last_start_;
  std::unordered_map<std::string, steady::time_point> answered_;
  std::vector<double> delays_;
};

// From a message to an idle process until its request leaves; empty when one went wrong.
std::vector<double> wakes(runtime& rt, const clocked_model& model, std::uint32_t n) {
  auto root = rt.create_deep_agent({.name = "root", .model = "sleepy", .instruction = "You are an agent."});
  const auto session = make_session_id().str();
  std::vector<double> delays;
  for (std::uint32_t i = 0; i <= n; ++i) {
    std::this_thread::sleep_for(between_wakes);
    const auto begin = steady::now();
    if (!root.run("Are you there?", {.session = session}).outcome().completed())
      return {};
    if (i > 0) // the first one makes the session
      delays.push_back(std::chrono::duration<double, std::micro>(model.last_start() - begin).count());
  }
  return delays;
}

} // namespace

int run_latency(const latency_options& options) {
  net::io_pool clock;
  auto busy = std::make_shared<clocked_model>(
      [&options](const model_request& r) { return child_turns(r, options.agents, options.turns); }, clock,
      options.think_ms);
  auto sleepy =
      std::make_shared<clocked_model>([](const model_request&) { return text_response("yes"); }, clock, 0);
  runtime rt;
  rt.add_model("inside", busy);
  rt.add_model("sleepy", sleepy);
  auto root = rt.create_deep_agent(fan_out_team(options.agents, options.turns));
  const stopwatch watch;
  const bool done = root.run("go").outcome().completed();
  const double share = watch.cpu() / watch.wall();
  const auto turns = busy->delays();
  const auto woken = wakes(rt, *sleepy, options.wakes);
  const bool ok =
      done && turns.size() == std::size_t{options.agents} * options.turns && woken.size() == options.wakes;
  const json line = {{"bench", "latency"},
                     {"agents", options.agents},
                     {"busy_percent", share * 100},
                     {"turns", turns.size()},
                     {"turn_p50_us", percentile(turns, 0.5)},
                     {"turn_p99_us", percentile(turns, 0.99)},
                     {"wake_p50_us", percentile(woken, 0.5)},
                     {"wake_p99_us", percentile(woken, 0.99)},
                     {"ok", ok}};
  std::printf("%s\n", line.dump().c_str());
  return ok ? 0 : 1;
}

} // namespace troupe::bench
