// Many runs at once, each in a session of its own, each with two subagents that work in parallel.
//
//   parallel_runs [RUNS]
//
// run() returns at once, and a run that waits costs no thread: a few threads carry all of them. The model is a C++
// function, so the time shown is what the runtime itself costs.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

troupe::model_response play(const troupe::model_request& request) {
  if (request.agent != "root")
    return troupe::text_response(request.agent + " is done");
  if (request.turn == 0) {
    auto both = troupe::call_response("left", {{"request", "Do the left half."}});
    both.parts.push_back({troupe::tool_call_part{{}, "right", R"({"request":"Do the right half."})"}, {}});
    return both;
  }
  std::string text;
  for (const auto& part : request.contents.back()->parts)
    if (const auto* result = std::get_if<troupe::tool_result_part>(&part.value))
      text += result->text + "; ";
  return troupe::text_response(text + "the root is done");
}

int run_them(std::size_t count) {
  troupe::runtime rt;
  rt.add_model("rules", troupe::function_model(play));
  auto root = rt.create_deep_agent({
      .name = "root",
      .model = "rules",
      .subagents = {{.name = "left", .goal = "Do the left half."},
                    {.name = "right", .goal = "Do the right half."}},
  });

  const auto begin = std::chrono::steady_clock::now();
  std::vector<troupe::run> runs;
  runs.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    runs.push_back(root.run("Job " + std::to_string(i), {.session = "job-" + std::to_string(i)}));

  std::size_t completed = 0;
  for (const auto& run : runs)
    completed += run.outcome().text() == "left is done; right is done; the root is done" ? 1 : 0;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << completed << " of " << count << " runs completed, " << 3 * count << " agents, in "
            << took.count() << " s\n";
  return completed == count ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
  try {
    return run_them(count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 200);
  } catch (const std::exception& e) {
    std::cerr << "parallel_runs: " << e.what() << '\n';
    return 2;
  }
}
