// Two ways to follow a run: a range that this thread reads, or a callback on the runtime's dispatcher thread. Neither loses
// a stored event. Streamed pieces of texts come beside them, and are dropped where nobody is in time.
//
// A callback may take part in the run: this one steers it once.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <atomic>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <string>

namespace {

constexpr std::uint32_t steps = 5;

// Calls its tool five times, then answers.
troupe::model_response play(const troupe::model_request& request) {
  if (request.turn < steps)
    return troupe::call_response("step", nlohmann::json::object());
  return troupe::text_response("All steps are done.");
}

// This thread reads; the loop ends with the run.
std::uint32_t read_range(const troupe::run& run) {
  std::uint32_t calls = 0;
  for (const auto& e : run) {
    std::cout << e.seq << ' ' << troupe::to_line(e) << '\n';
    calls += e.kind() == troupe::event_kind::tool_call ? 1 : 0;
  }
  return calls;
}

// The dispatcher calls. The event that ends the root agent is the last one.
std::uint32_t take_callbacks(troupe::run run) {
  std::uint32_t calls = 0;
  auto last = std::make_shared<std::promise<void>>();
  run.on_event([&calls, last, run](const troupe::event& e) mutable {
    if (e.kind() == troupe::event_kind::agent_ended)
      return last->set_value();
    if (e.kind() == troupe::event_kind::tool_call && ++calls == 1)
      if (auto steered = run.steer("Mind the gap."); !steered)
        std::cerr << "not steered: " << troupe::to_string(steered.failure()) << '\n';
  });
  last->get_future().wait();
  return calls;
}

int run_it() {
  std::atomic<std::uint32_t> taken = 0;
  std::atomic<std::uint32_t> pieces = 0;

  troupe::runtime rt;
  rt.add_model("rules", troupe::function_model(play));
  auto step = troupe::tool("step", "Takes a step.", [&taken] { return "step " + std::to_string(++taken); });
  auto walker = rt.create_deep_agent({.name = "walker", .model = "rules", .tools = {step}});

  auto first = walker.run("Walk.", {.session = "first-walk"});
  first.on_partial([&pieces](const troupe::partial&) { ++pieces; });
  const auto in_range = read_range(first);

  auto second = walker.run("Walk again.", {.session = "second-walk"});
  const auto in_callback = take_callbacks(second);

  std::cout << in_callback << " tool calls seen by the callback and " << in_range << " by the range\n";
  std::cout << pieces << " streamed pieces\n";
  return first.outcome().completed() && second.outcome().completed() ? 0 : 1;
}

} // namespace

int main() {
  try {
    return run_it();
  } catch (const std::exception& e) {
    std::cerr << "stream_events: " << e.what() << '\n';
    return 2;
  }
}
