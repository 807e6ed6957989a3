// A session in a file: one runtime asks a question and ends; another one resumes the session with the answer.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <filesystem>
#include <iostream>

namespace {

// Asks the user, then says what the answer was.
troupe::model_response ask_then_tell(const troupe::model_request& request) {
  const auto& last = *request.contents.back();
  if (last.role != troupe::role::tool)
    return troupe::call_response("request_input", {{"message", "Which colour?"}});
  return troupe::text_response(std::get<troupe::tool_result_part>(last.parts.front().value).text + " it is");
}

// A runtime with the agent, on the file.
class world {
 public:
  explicit world(const std::filesystem::path& file) : runtime_(options(file)) {
    runtime_.add_model("rules", troupe::function_model(ask_then_tell));
    painter_.emplace(runtime_.create_deep_agent(
        {.name = "painter", .model = "rules", .instruction = "Paint.", .tools = {"request_input"}}));
  }
  troupe::runtime& runtime() { return runtime_; }
  troupe::agent& painter() { return *painter_; }

 private:
  static troupe::runtime_options options(const std::filesystem::path& file) {
    troupe::runtime_options o;
    o.store = *troupe::open_store("sqlite:" + file.string(), troupe::durability::strict);
    return o;
  }
  troupe::runtime runtime_;
  std::optional<troupe::agent> painter_;
};

} // namespace

int main() {
  const auto folder =
      std::filesystem::temp_directory_path() / ("troupe-example-" + troupe::make_session_id().str());
  std::string question;
  {
    world first{folder / "sessions.db"};
    auto run = first.painter().run("Paint the wall.",
                                   {.session = "wall", .answerable = true, .suspend_on_question = true});
    for (const troupe::event& e : run)
      if (const auto* asked = e.as<troupe::question_body>())
        question = asked->question.str();
    std::cout << "the first runtime ends with " << to_string(run.outcome().code()) << '\n';
  }
  world second{folder / "sessions.db"};
  auto run =
      second.runtime().resume("wall", {.answerable = true, .answers = {{troupe::call_id{question}, "red"}}});
  std::cout << "asked in one runtime, answered in another: " << run.outcome().text() << '\n';
  std::filesystem::remove_all(folder);
  return run.outcome().completed() ? 0 : 1;
}
