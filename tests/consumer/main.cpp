// Uses what a program outside the tree uses: the runtime, a typed tool, a model in code and a subagent.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace {

struct add_args {
  int a = 0;
  int b = 0;
};
TROUPE_FIELDS(add_args, (a, "first"), (b, "second"))

// The root adds with its tool, then asks the checker, then answers.
troupe::model_response play(const troupe::model_request& request) {
  if (request.agent == "checker")
    return troupe::text_response("checked");
  if (request.turn == 0)
    return troupe::call_response("add", {{"a", 40}, {"b", 2}});
  if (request.turn == 1)
    return troupe::call_response("checker", {{"request", "Check the sum."}});
  return troupe::text_response("consumer ok");
}

} // namespace

int main() {
  troupe::runtime rt;
  rt.add_model("rules", troupe::function_model(play));
  auto root = rt.create_deep_agent({
      .name = "consumer",
      .model = "rules",
      .tools = {troupe::tool("add", "Adds two numbers.", [](const add_args& in) { return in.a + in.b; })},
      .subagents = {{.name = "checker", .goal = "Check sums."}},
  });
  auto run = root.run("Add 40 and 2.");
  std::string sum;
  for (const auto& e : run)
    if (const auto* result = e.as<troupe::tool_result_body>(); result != nullptr && result->name == "add")
      sum = result->text;
  const auto outcome = run.outcome();
  std::cout << outcome.text() << ": " << sum << '\n';
  return outcome.completed() && sum == "42" ? 0 : 1;
}
