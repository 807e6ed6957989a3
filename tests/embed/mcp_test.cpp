// MCP servers in a runtime: who gets their tools, and that none is left when its owner ends.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "support/shell_mcp.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

bool has_result(const model_request& request) {
  return !request.contents.empty() && request.contents.back()->role == role::tool;
}

std::string last_result(const model_request& request) {
  return std::get<tool_result_part>(request.contents.back()->parts.back().value).text;
}

// Calls the tool that the prompt names, and tells its result.
model_response call_named(const model_request& request) {
  if (has_result(request))
    return text_response(last_result(request));
  return call_response(request.contents.back()->text(), json::object());
}

bool runs(int pid) {
  return kill(pid, 0) == 0;
}

std::string answer_of(const run& r) {
  const auto o = r.outcome();
  return o.completed() ? o.text() : to_string(error{o.code(), o.detail()});
}

} // namespace

TEST_CASE("the root calls tools of the configured servers, which are shared and end with the runtime") {
  temporary_folder f;
  const auto pids = f.path() / "pids";
  {
    runtime rt{{.mcp_servers = {shell_mcp("sh", pids)}}};
    rt.add_model("rules", function_model(call_named));
    auto root = rt.create_deep_agent({.name = "boss", .model = "rules", .instruction = "Do."});
    CHECK(numbers_in(pids).empty()); // nothing starts before it is needed
    CHECK(answer_of(root.run("mcp_sh_hello")) == "hi");
    CHECK(answer_of(root.run("mcp_sh_hello")) == "hi");
    CHECK(numbers_in(pids).size() == 1);
    // A server that ends is started again.
    CHECK(answer_of(root.run("mcp_sh_die")).find("ended with code 3") != std::string::npos);
    CHECK(answer_of(root.run("mcp_sh_hello")) == "hi");
    CHECK(numbers_in(pids).size() == 2);
    CHECK(runs(numbers_in(pids).back()));
  }
  for (const int pid : numbers_in(pids))
    CHECK(wait_gone(pid));
}

TEST_CASE("a root's own servers are one for each session, and end at shutdown") {
  temporary_folder f;
  const auto pids = f.path() / "pids";
  const auto shared = f.path() / "shared";
  runtime rt{{.mcp_servers = {shell_mcp("all", shared)}}};
  rt.add_model("rules", function_model(call_named));
  auto root = rt.create_deep_agent({.name = "boss",
                                    .model = "rules",
                                    .instruction = "Do.",
                                    .tools = {"mcp_all_*"},
                                    .mcp_servers = {shell_mcp("own", pids)}});
  CHECK(answer_of(root.run("mcp_own_hello", {.session = "one"})) == "hi");
  CHECK(answer_of(root.run("mcp_own_hello", {.session = "two"})) == "hi");
  CHECK(answer_of(root.run("mcp_all_hello", {.session = "two"})) == "hi");
  CHECK(numbers_in(pids).size() == 2); // one a session
  auto hangs = root.run("mcp_own_hang", {.session = "three"});
  for (const event& e : hangs)
    if (e.as<tool_call_body>())
      hangs.cancel();
  CHECK(hangs.outcome().cancelled());
  CHECK(answer_of(root.run("mcp_own_die", {.session = "four"})).find("ended") != std::string::npos);
  CHECK(answer_of(root.run("no_such_tool", {.session = "five"})).size() > 5);
  rt.shutdown(10s);
  CHECK(numbers_in(pids).size() == 5);
  for (const int pid : numbers_in(pids))
    CHECK(wait_gone(pid));
}

TEST_CASE("children of agent files start servers of their own, which end with the child, however it ends") {
  temporary_folder f;
  const auto pids = f.path() / "pids";
  const auto spec = shell_mcp("own", pids);
  std::filesystem::create_directory(f.path() / "agents");
  f.write("server.sh", spec.args[1]);
  f.write("agents/helper.md",
          "---\nname: helper\ndescription: Helps.\ntools: []\nmcp_servers:\n  own: {command: sh, args: [\"" +
              (f.path() / "server.sh").string() + "\"], env: {PIDS: \"" + pids.string() +
              "\"}}\n---\n${query}\n");
  std::string tool = "mcp_own_hello"; // changed between runs only
  runtime rt{{.agents_folder = f.path() / "agents"}};
  rt.add_model("rules", function_model([&tool](const model_request& request) {
                 if (has_result(request))
                   return text_response(last_result(request));
                 return request.agent == "helper"
                            ? call_response(tool, json::object())
                            : call_response("invoke_agent", {{"agent_name", "helper"}, {"prompt", "x"}});
               }));
  auto root = rt.create_deep_agent({.name = "boss", .model = "rules", .instruction = "Do."});
  CHECK(answer_of(root.run("go")) == "hi");
  CHECK(answer_of(root.run("go")) == "hi");
  tool = "mcp_own_die";
  CHECK(answer_of(root.run("go")).find("ended with code 3") != std::string::npos);
  tool = "no_such_tool";
  CHECK(root.run("go").outcome().completed());
  tool = "mcp_own_hang";
  auto hangs = root.run("go");
  for (const event& e : hangs)
    if (const auto* call = e.as<tool_call_body>(); call != nullptr && call->name == tool)
      hangs.cancel();
  CHECK(hangs.outcome().cancelled());
  CHECK(numbers_in(pids).size() == 5);   // one for each child
  for (const int pid : numbers_in(pids)) // while the runtime lives
    CHECK(wait_gone(pid));
}

TEST_CASE("a question of a server is one of the run, and its answer goes back") {
  temporary_folder f;
  runtime rt{{.mcp_servers = {shell_mcp("sh", f.path() / "pids")}}};
  rt.add_model("rules", function_model(call_named));
  auto root = rt.create_deep_agent({.name = "boss", .model = "rules", .instruction = "Do."});
  auto run = root.run("mcp_sh_ask", {.answerable = true});
  for (const event& e : run)
    if (const auto* question = e.as<question_body>()) {
      CHECK(question->message == "Name?");
      CHECK(run.answer(question->question.str(), {{"name", "Ada"}}));
    }
  CHECK(answer_of(run) == "hello Ada");
  CHECK(answer_of(root.run("mcp_sh_ask")) == "hello nobody"); // nobody can answer
}

TEST_CASE("a server that cannot start keeps nobody from working") {
  temporary_folder f;
  runtime rt{
      {.mcp_servers = {{.name = "gone", .command = "no-such-program"}, shell_mcp("sh", f.path() / "pids")}}};
  rt.add_model("rules", function_model(call_named));
  auto root = rt.create_deep_agent({.name = "boss", .model = "rules", .instruction = "Do."});
  auto run = root.run("mcp_sh_hello");
  bool warned = false;
  for (const event& e : run)
    if (const auto* warning = e.as<warning_body>())
      warned |= warning->message.find("no-such-program") != std::string::npos;
  CHECK(answer_of(run) == "hi");
  CHECK(warned);
  CHECK_THROWS_AS(
      (runtime{{.mcp_servers = {{.name = "x", .command = "a", .env = {{"K", "$TROUPE_NOT_SET"}}}}}}),
      config_error);
}
