// A runtime whose root agent calls the remote agent that a prompt names: "peer: do this" calls `peer`. Its answer is what
// came back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/function_model.hpp>
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

// The newest message of the user, and the texts of the tool results that have come since.
inline std::pair<std::string, std::vector<std::string>> last_exchange(const model_request& request) {
  std::string prompt;
  std::vector<std::string> results;
  for (std::size_t i = 0; i < request.contents.size(); ++i) {
    const auto& c = *request.contents[i];
    if (c.role == role::user)
      prompt = c.text(), results.clear();
    for (const auto& p : c.parts)
      if (const auto* r = std::get_if<tool_result_part>(&p.value))
        results.push_back(r->text);
  }
  return {std::move(prompt), std::move(results)};
}

// Lines of the prompt, each "name: prompt", are calls of one turn; then the results as lines.
inline model_response call_remotes(const model_request& request) {
  const auto [prompt, results] = last_exchange(request);
  if (!results.empty()) {
    std::string lines;
    for (const auto& r : results)
      lines += (lines.empty() ? "" : "\n") + r;
    return text_response(lines);
  }
  model_response response;
  for (std::size_t at = 0; at < prompt.size();) {
    const auto end = std::min(prompt.find('\n', at), prompt.size());
    const auto line = prompt.substr(at, end - at);
    const auto colon = line.find(": ");
    if (colon != std::string::npos)
      response.parts.push_back({tool_call_part{{},
                                               "invoke_agent",
                                               nlohmann::json{{"agent_name", line.substr(0, colon)},
                                                              {"prompt", line.substr(colon + 2)}}
                                                   .dump()},
                                {}});
    at = end + 1;
  }
  response.finish = finish_reason::tool_calls;
  return response;
}

struct remote_root {
  explicit remote_root(std::vector<remote_agent_spec> remotes, std::vector<policy_rule> rules = {},
                       model_function model = call_remotes)
      : rt(options(this)) {
    rt.add_model("rules", function_model(std::move(model)));
    root = std::make_unique<agent>(rt.create_deep_agent({.name = "root",
                                                         .model = "rules",
                                                         .instruction = "You are a test.",
                                                         .remote_agents = std::move(remotes),
                                                         .policy = std::move(rules)}));
  }
  static runtime_options options(remote_root* self) {
    runtime_options o;
    o.log = [self](log_level, std::string_view text) {
      std::lock_guard lock{self->mutex};
      self->logged.emplace_back(text);
    };
    return o;
  }
  outcome ask(const std::string& prompt, const std::string& session = {}) {
    run_options o;
    o.session = session;
    return root->run(prompt, std::move(o)).outcome();
  }
  // Starts a run that can be answered, and gives its first question.
  std::pair<run, std::string> ask_for_question(const std::string& prompt) {
    run_options o;
    o.answerable = true;
    auto r = root->run(prompt, std::move(o));
    for (const event& e : r)
      if (const auto* q = e.as<question_body>()) {
        question = q->message;
        return {r, q->question.str()};
      }
    return {r, {}};
  }

  std::mutex mutex;
  std::vector<std::string> logged;
  std::string question;
  runtime rt;
  std::unique_ptr<agent> root;
};

} // namespace troupe::test
