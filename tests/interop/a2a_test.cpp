// Our client against an agent on the reference implementation of A2A, and its client against our server, in both versions
// and bindings.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/server.hpp>

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <sstream>
#include <thread>

#include "interop/node.hpp"
#include "support/remote_root.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;

namespace {

// Waits for a line of the program's output that begins so, and gives the rest of it.
std::string wait_line(const temporary_folder& folder, const std::string& begin) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  while (std::chrono::steady_clock::now() < end) {
    std::istringstream lines(folder.read("program.out"));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(begin) && !lines.eof())
        return line.substr(begin.size());
    std::this_thread::yield();
  }
  return {};
}

// How many whole lines of the program's output begin so.
std::size_t count_lines(const temporary_folder& folder, const std::string& begin) {
  std::istringstream lines(folder.read("program.out"));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);)
    count += line.starts_with(begin) && !lines.eof() ? 1 : 0;
  return count;
}

// Waits until there are more than `before`.
bool wait_more_lines(const temporary_folder& folder, const std::string& begin, std::size_t before) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  while (count_lines(folder, begin) <= before && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return count_lines(folder, begin) > before;
}

remote_agent_spec peer_at(const std::string& url) {
  remote_agent_spec spec;
  spec.name = "peer";
  spec.card_url = url;
  return spec;
}

// What went wrong, of the result that a parent gets.
json failure_of(const outcome& o) {
  auto parsed = json::parse(o.text(), nullptr, false);
  return parsed.is_object() ? parsed : json::object();
}

// One session goes on through answers of all kinds, and texts come through as they are.
void keep_talking(remote_root& w) {
  const auto context = w.ask("peer: context", "talk").text();
  for (int i = 0; i < 6; ++i) {
    CHECK(w.ask("peer: echo turn " + std::to_string(i), "talk").text() == "turn " + std::to_string(i));
    CHECK(w.ask("peer: context", "talk").text() == context);
  }
  CHECK(failure_of(w.ask("peer: fail", "talk"))["reason"] == "tool_failed");
  CHECK(w.ask("peer: echo after a failure", "talk").text() == "after a failure");
  CHECK(failure_of(w.ask("peer: reject", "talk"))["reason"] == "model_refused");
  CHECK(w.ask("peer: stream", "talk").text() == "one two three");
  for (const std::string text :
       {"\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x90\x8B", "<b>&amp;\"'\\", "{\"a\": [1, 2]}"})
    CHECK(w.ask("peer: echo " + text, "talk").text() == text);
  const std::string large(100'000, 'x');
  CHECK(w.ask("peer: echo " + large, "talk").text() == large);
}

void go_through(const std::string& card, const temporary_folder& folder, bool streams) {
  remote_root w{{peer_at(card)}};
  CHECK(w.ask("peer: echo hello there").text() == "hello there");
  CHECK(w.ask("peer: stream").text() == "one two three");
  CHECK(w.ask("peer: message hi").text() == "said hi");
  CHECK(w.ask("peer: anything").text() == "done: anything");

  const auto failed = w.ask("peer: fail");
  CHECK_MESSAGE(failure_of(failed)["reason"] == "tool_failed", failed.text());
  CHECK(failure_of(failed)["error"].get<std::string>().find("It broke.") != std::string::npos);
  CHECK(failure_of(failed)["error"].get<std::string>().find("half") != std::string::npos);
  const auto rejected = w.ask("peer: reject");
  CHECK_MESSAGE(failure_of(rejected)["reason"] == "model_refused", rejected.text());
  CHECK(failure_of(rejected)["error"].get<std::string>().find("Not my job.") != std::string::npos);

  // Nobody answers: the task is given up.
  const auto given_up = count_lines(folder, "cancelled ");
  const auto unanswered = w.ask("peer: ask");
  CHECK_MESSAGE(failure_of(unanswered)["reason"] == "needs_input", unanswered.text());
  CHECK(failure_of(unanswered)["error"].get<std::string>().find("Which colour?") != std::string::npos);
  CHECK(wait_more_lines(folder, "cancelled ", given_up));

  auto [asked, question] = w.ask_for_question("peer: ask");
  REQUIRE_FALSE(question.empty());
  CHECK(w.question == "Which colour?");
  CHECK(asked.answer(question, "blue"));
  CHECK(asked.outcome().text() == "you said blue");
  auto [auth, demand] = w.ask_for_question("peer: auth");
  REQUIRE_FALSE(demand.empty());
  CHECK(w.question.find("asks for authentication") != std::string::npos);
  CHECK(w.question.find("Log in first.") != std::string::npos);
  CHECK(auth.answer(demand, "done"));
  CHECK(auth.outcome().text() == "you said done");

  // One conversation a session.
  const auto context = w.ask("peer: context", "s1").text();
  CHECK_FALSE(context.empty());
  CHECK(w.ask("peer: context", "s1").text() == context);
  CHECK(w.ask("peer: context", "s2").text() != context);
  keep_talking(w);

  if (!streams)
    return; // a task is not known before its first answer
  auto slow = w.root->run("peer: slow");
  for (const event& e : slow)
    if (e.as<agent_started_body>() != nullptr && e.origin->number > 0)
      break;
  slow.cancel();
  CHECK(slow.outcome().cancelled());
}

// Repeats what it is told; asks, fails or waits where the prompt says so.
model_response rules(const model_request& request) {
  const auto [prompt, results] = last_exchange(request);
  const auto result = results.empty() ? std::string{} : results.back();
  if (prompt == "fail")
    return call_response("no_such_tool", json::object()); // until it has no turns left
  if ((prompt == "ask" || prompt == "slow") && result.empty())
    return prompt == "ask" ? call_response("request_input", {{"message", "which?"}})
                           : call_response("wait", json::object());
  return text_response("it is " + (result.empty() ? prompt : result));
}

} // namespace

TEST_CASE("an agent on the reference implementation is called in each version and binding") {
  temporary_folder folder;
  if (!has_node(folder.path()))
    return;
  program node{
      folder.path(),
      {"/usr/bin/env", "NODE_PATH=" TROUPE_NODE_MODULES, "node", TROUPE_INTEROP_FOLDER "/a2a_server.cjs"}};
  const auto url = wait_line(folder, "url ");
  REQUIRE_FALSE(url.empty());
  for (const char* which : {"rpc-1.0", "rest-1.0", "rpc-0.3", "rest-0.3"}) {
    CAPTURE(which);
    go_through(url + "/cards/" + which + ".json", folder, true);
    go_through(url + "/still/" + which + ".json", folder, false);
  }
}

TEST_CASE("the reference client gets along with our server in each version and binding") {
  temporary_folder folder;
  if (!has_node(folder.path()))
    return;
  runtime rt;
  rt.add_model("rules", function_model(rules));
  auto wait = std::make_shared<tool_definition>();
  wait->name = "wait";
  wait->description = "Waits until it is cancelled.";
  wait->parameters = {{"type", "object"}};
  wait->run = [](const json&, tool_context& context) -> tool_result {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any stopped;
    stopped.wait(lock, context.stop, [] { return false; });
    return {"stopped", {}, {}};
  };
  server_options options;
  options.listen = "127.0.0.1:0";
  options.a2a = true;
  options.agents.push_back(rt.create_deep_agent({.name = "root",
                                                 .model = "rules",
                                                 .instruction = "You are a test.",
                                                 .tools = {"request_input", tool_ptr{wait}}}));
  server srv{rt, std::move(options)};
  const auto ran = run_script(folder.path(), "a2a_client.cjs", {srv.url()});
  CHECK_MESSAGE(ran.code == 0, (ran.out + ran.err));
  std::istringstream lines(ran.out);
  int steps = 0;
  for (std::string line; std::getline(lines, line);)
    ++steps;
  CHECK(steps == 3 * 33 + 30 + 2 * 4);
}
