// Who may do what: rules that allow, deny or ask before a tool is called, and functions before and after it.
//
// The model wants to delete three files. A rule denies one of them, a rule asks about another, and this program answers
// the question while the run waits. A hook changes what a tool gave before the model sees it. Nothing is deleted: the
// tool only says so.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <exception>
#include <iostream>
#include <memory>
#include <string>

namespace {

struct delete_args {
  std::string path;
};
TROUPE_FIELDS(delete_args, (path, "file to delete"))

// Three calls in one turn; then an answer from what came back.
troupe::model_response play(const troupe::model_request& request) {
  if (request.turn == 0) {
    auto calls = troupe::call_response("delete_file", {{"path", "draft.txt"}});
    for (const char* arguments : {R"({"path":"report.txt"})", R"({"path":".git/config"})"})
      calls.parts.push_back({troupe::tool_call_part{{}, "delete_file", arguments}, {}});
    return calls;
  }
  int deleted = 0;
  for (const auto& part : request.contents.back()->parts)
    if (const auto* result = std::get_if<troupe::tool_result_part>(&part.value))
      deleted += result->is_error ? 0 : 1;
  return troupe::text_response(std::to_string(deleted) + " of 3 files deleted");
}

std::shared_ptr<const troupe::hooks> make_hooks() {
  auto watch = std::make_shared<troupe::hooks>();
  watch->before_tool = [](const troupe::hook_context& who, const std::string& tool,
                          const nlohmann::json& arguments) {
    std::cout << "hook: " << who.agent_name << " calls " << tool << ' ' << arguments.dump() << '\n';
    return troupe::tool_verdict{};
  };
  watch->after_tool = [](const troupe::hook_context&, const std::string&, troupe::tool_result& result) {
    result.text += " (noted by the hook)";
  };
  return watch;
}

int run_it() {
  troupe::runtime rt;
  rt.add_model("rules", troupe::function_model(play));
  auto cleaner = rt.create_deep_agent({
      .name = "cleaner",
      .model = "rules",
      .tools = {troupe::tool("delete_file", "Deletes a file.", {.destructive = true},
                             [](const delete_args& in) { return in.path + " is gone"; })},
      .policy = {{.tool = "delete_*",
                  .arguments = {{"path", ".git/*"}},
                  .decision = troupe::policy_decision::deny,
                  .message = "The history stays."},
                 {.tool = "delete_*",
                  .arguments = {{"path", "report*"}},
                  .decision = troupe::policy_decision::ask,
                  .message = "Is the report still needed?"}},
      .before_and_after = make_hooks(),
  });
  auto run = cleaner.run("Clean up.", {.answerable = true});
  for (const auto& e : run) {
    std::cout << troupe::to_line(e) << '\n';
    if (const auto* question = e.as<troupe::question_body>())
      if (auto answered = run.answer(question->question.str(), true); !answered)
        std::cerr << "not answered: " << troupe::to_string(answered.failure()) << '\n';
  }
  std::cout << run.outcome().text() << '\n';
  return run.outcome().completed() ? 0 : 1;
}

} // namespace

int main() {
  try {
    return run_it();
  } catch (const std::exception& e) {
    std::cerr << "hooks_and_policy: " << e.what() << '\n';
    return 2;
  }
}
