// Remote agents end to end: agents of one runtime call those of another over A2A, and peers that fail.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/server.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <thread>

#include "net/a2a_peer.hpp"
#include "support/remote_root.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

// Repeats what it is told, with the last message of the user only; asks where that says so.
model_response repeats(const model_request& request) {
  const auto [prompt, results] = last_exchange(request);
  const auto result = results.empty() ? std::string{} : results.back();
  if (prompt == "ask" && result.empty())
    return call_response("request_input", {{"message", "which?"}});
  if (prompt == "count")
    return text_response(std::to_string(request.contents.size()));
  if (prompt == "hops")
    return text_response(std::to_string(request.hops));
  return text_response("it is " + (result.empty() ? prompt : result));
}

// A runtime that offers its root agent.
struct offering {
  explicit offering(server_options options = {}) {
    rt.add_model("rules", function_model(repeats));
    options.listen = "127.0.0.1:0";
    options.a2a = true;
    options.agents.push_back(rt.create_deep_agent({.name = "far",
                                                   .model = "rules",
                                                   .instruction = "You are a test.",
                                                   .tools = {"request_input"},
                                                   .description = "Repeats <b>things</b>."}));
    srv = std::make_unique<server>(rt, std::move(options));
  }
  [[nodiscard]] remote_agent_spec spec(std::string name = "peer") const {
    remote_agent_spec s;
    s.name = std::move(name);
    s.description = "Near.";
    s.card_url = srv->url();
    return s;
  }
  runtime rt;
  std::unique_ptr<server> srv;
};

json failure_of(const outcome& o) {
  auto parsed = json::parse(o.text(), nullptr, false);
  return parsed.is_object() ? parsed : json::object();
}

const agent_profile& profile_of(const remote_root& w, const std::string& name) {
  return *w.root->profile().delegates->agents.at(name);
}

std::string invoke_text(const remote_root& w) {
  for (const auto& tool : w.root->profile().head->tools)
    if (tool.name == "invoke_agent")
      return tool.description;
  return {};
}

} // namespace

TEST_CASE("an agent of another runtime is called, and asked on in one conversation") {
  offering far;
  remote_root w{{far.spec()}};
  CHECK(w.ask("peer: hello").text() == "it is hello");
  CHECK(w.ask("peer: count", "s1").text() == "1");
  CHECK(w.ask("peer: count", "s1").text() == "3");
  CHECK(w.ask("peer: count", "s2").text() == "1");
  // One from agent to agent.
  CHECK(w.ask("peer: hops").text() == "1");
}

TEST_CASE("its question is asked, answered and goes on") {
  offering far;
  remote_root w{{far.spec()}};
  auto [r, question] = w.ask_for_question("peer: ask");
  CHECK(w.question == "which?");
  REQUIRE(r.answer(question, "this one"));
  CHECK(r.outcome().text().find("this one") != std::string::npos);
  const auto nobody = w.ask("peer: ask");
  CHECK(failure_of(nobody)["reason"] == "needs_input");
}

TEST_CASE("a remote agent stands in the catalogue of agents, escaped, and is no model to choose") {
  offering far;
  remote_root w{{far.spec()}};
  const auto text = invoke_text(w);
  CHECK(text.find("- peer: A remote agent, run by somebody else. Near. (It says of itself: Repeats "
                  "&lt;b&gt;things") != std::string::npos);
  CHECK(profile_of(w, "peer").is_remote);
  CHECK(profile_of(w, "peer").limits.timeout == 30min);
  for (const auto& [id, description] : w.rt.models())
    CHECK(id.find("a2a:") == std::string::npos);
}

TEST_CASE("agents over three runtimes stop at max_hops") {
  offering last;
  auto spec = last.spec("next");
  spec.max_hops = 1;
  remote_root middle{{spec}};
  server_options options;
  options.listen = "127.0.0.1:0";
  options.a2a = true;
  options.agents = {*middle.root};
  server srv{middle.rt, std::move(options)};
  remote_agent_spec near;
  near.name = "middle";
  near.card_url = srv.url();
  remote_root first{{near}};
  // From the middle runtime itself the last one can be called; over two hops it cannot.
  CHECK(middle.ask("next: hello").text() == "it is hello");
  const auto refused = first.ask("middle: next: hello");
  CHECK_MESSAGE(refused.text().find("max_hops") != std::string::npos, refused.text());
}

TEST_CASE("policy sees remote agents, and its question shows what is sent") {
  offering far;
  policy_rule ask;
  ask.tool = "remote:*";
  ask.decision = policy_decision::ask;
  remote_root asking{{far.spec()}, {ask}};
  auto [r, question] = asking.ask_for_question("peer: the plan");
  CHECK(asking.question.find("remote agent 'peer'") != std::string::npos);
  CHECK(asking.question.find("the plan") != std::string::npos);
  REQUIRE(r.answer(question, true));
  CHECK(r.outcome().text() == "it is the plan");
  policy_rule deny = ask;
  deny.decision = policy_decision::deny;
  deny.message = "Nothing leaves.";
  remote_root denied{{far.spec()}, {deny}};
  CHECK(denied.ask("peer: x").text().find("Nothing leaves.") != std::string::npos);
}

TEST_CASE("a token of the server is asked for and given") {
  server_options options;
  options.token = "0123456789abcdef0123";
  offering far{std::move(options)};
  auto spec = far.spec();
  spec.auth = {{"type", "http"}, {"scheme", "Bearer"}, {"token", "0123456789abcdef0123"}};
  remote_root w{{spec}};
  CHECK(w.ask("peer: hello").text() == "it is hello");
  spec.auth["token"] = "another one, which is wrong";
  remote_root wrong{{spec}};
  const auto refused = wrong.ask("peer: hello");
  CHECK(failure_of(refused)["reason"] == "model_auth");
  CHECK(refused.text().find("another one") == std::string::npos);
}

TEST_CASE("agent files declare remote agents, and a bad one does not stop the others") {
  offering far;
  temporary_folder folder;
  folder.write("peer.md", "---\nname: peer\nagent_card_url: " + far.srv->url() + "\ntimeout: 5m\n---\n");
  folder.write("bad.md", "---\nname: bad\nagent_card_json: '{\"name\":\"bad\"}'\n---\n");
  runtime_options options;
  options.agents_folder = folder.path();
  runtime rt{std::move(options)};
  rt.add_model("rules", function_model(call_remotes));
  auto root = rt.create_deep_agent({.name = "root", .model = "rules", .instruction = "You are a test."});
  CHECK(root.run("peer: hello").outcome().text() == "it is hello");
  REQUIRE(root.skipped().size() == 1);
  CHECK(root.skipped()[0].find("supportedInterfaces") != std::string::npos);
  CHECK(root.profile().delegates->agents.at("peer")->limits.timeout == 5min);
}

TEST_CASE("declarations in code that cannot be used are refused") {
  remote_agent_spec both;
  both.name = "peer";
  CHECK_THROWS_WITH_AS(remote_root{{both}}, doctest::Contains("exactly one of"), config_error);
  remote_agent_spec unsupported;
  unsupported.name = "peer";
  unsupported.card_url = "http://127.0.0.1:1/";
  unsupported.auth = {{"type", "google-credentials"}};
  CHECK_THROWS_WITH_AS(remote_root{{unsupported}}, doctest::Contains("not supported"), config_error);
}

TEST_CASE("a peer that is not there when the agent is made can be called later") {
  remote_agent_spec gone;
  gone.name = "peer";
  gone.card_url = "http://127.0.0.1:1/";
  remote_root w{{gone}};
  const auto failed = w.ask("peer: hello");
  CHECK(failure_of(failed)["reason"] == "connection_failed");
}

TEST_CASE("a hundred remote children over five peers, two of which die: each call has one outcome") {
  constexpr std::size_t peers = 5;
  constexpr std::size_t calls = 20; // each
  std::atomic<int> cancels{0};
  std::vector<std::unique_ptr<test_server>> servers;
  std::vector<remote_agent_spec> specs;
  for (std::size_t i = 0; i < peers; ++i) {
    auto origin = std::make_shared<std::string>();
    servers.push_back(std::make_unique<test_server>([i, origin, &cancels](const seen_request& r) {
      if (r.head.starts_with("GET "))
        return answer(200, card_at(*origin + "/rpc").dump());
      const bool dies = i < 2;
      const bool hangs = i == 2;
      const auto method = rpc_method(r);
      if (method == "CancelTask") {
        cancels += hangs ? 1 : 0; // those that die are told as well, as far as they listen
        return rpc_answer(r, task_item("CANCELED"));
      }
      if (dies)
        return method == "SendStreamingMessage"
                   ? rpc_stream(r, {state_item("WORKING"), piece_item("half")}, scripted_reply::then::reset)
                   : answer(500, "gone");
      if (hangs)
        return rpc_stream(r, {state_item("WORKING")}, scripted_reply::then::keep);
      return rpc_stream(r, {state_item("WORKING"), piece_item("fine"), state_item("COMPLETED")});
    }));
    *origin = servers.back()->url();
    remote_agent_spec s;
    s.name = "peer" + std::to_string(i);
    s.card_url = *origin + "/card";
    s.timeout = i == 2 ? 2s : 60s;
    specs.push_back(std::move(s));
  }
  remote_root w{specs};
  std::string prompt;
  for (std::size_t c = 0; c < calls; ++c)
    for (std::size_t i = 0; i < peers; ++i)
      prompt += "peer" + std::to_string(i) + ": work " + std::to_string(c) + "\n";
  auto r = w.root->run(prompt);
  std::map<call_id, int> results;
  std::map<std::string, int> outcomes;
  int ended = 0;
  for (const event& e : r) {
    if (const auto* result = e.as<tool_result_body>()) {
      ++results[result->call];
      const auto failed = json::parse(result->text, nullptr, false);
      ++outcomes[failed.is_object() ? failed.value("reason", std::string{}) : result->text];
    }
    if (e.as<agent_ended_body>() != nullptr && e.origin->number > 0)
      ++ended;
  }
  CHECK(r.outcome().completed());
  CHECK(results.size() == peers * calls);
  for (const auto& [call, count] : results)
    CHECK(count == 1);
  CHECK(ended == static_cast<int>(peers * calls));
  CHECK(outcomes["fine"] == static_cast<int>(2 * calls));
  CHECK(outcomes["model_unavailable"] + outcomes["connection_lost"] == static_cast<int>(2 * calls));
  CHECK(outcomes["timeout"] == static_cast<int>(calls));
  // The peer that hangs is told of every task that is given up.
  for (const auto end = std::chrono::steady_clock::now() + 20s;
       cancels < static_cast<int>(calls) && std::chrono::steady_clock::now() < end;)
    std::this_thread::yield();
  CHECK(cancels == static_cast<int>(calls));
}
