// The Agent Client Protocol, with an editor that a test plays.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "embed/model_rules.hpp"

using namespace troupe;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// Takes what the agent sends, and waits for it.
class editor {
 public:
  void take(const std::string& line) {
    std::lock_guard lock{mutex_};
    lines_.push_back(json::parse(line));
    changed_.notify_all();
  }

  // The first message, from `from` on, that fits; the test fails when none comes.
  template <class Fits>
  json wait_for(Fits fits, std::size_t from = 0) {
    std::unique_lock lock{mutex_};
    std::size_t at = from;
    const bool came = changed_.wait_for(lock, 20s, [&] {
      for (; at < lines_.size(); ++at)
        if (fits(lines_[at]))
          return true;
      return false;
    });
    REQUIRE_MESSAGE(came, "no such message came");
    return lines_[at];
  }
  json answer_to(int id) {
    return wait_for([id](const json& m) { return m.value("id", json{}) == id && !m.contains("method"); });
  }
  json request(const std::string& method) {
    return wait_for([&](const json& m) { return m.value("method", "") == method && m.contains("id"); });
  }
  std::vector<json> updates(const std::string& kind) {
    std::lock_guard lock{mutex_};
    std::vector<json> found;
    for (const auto& m : lines_)
      if (m.value("method", "") == "session/update" && m["params"]["update"]["sessionUpdate"] == kind)
        found.push_back(m["params"]["update"]);
    return found;
  }
  std::string text(const std::string& kind) {
    std::string all;
    for (const auto& update : updates(kind))
      all += update["content"]["text"].get<std::string>();
    return all;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<json> lines_;
};

struct desk {
  explicit desk(model_function rules, std::vector<policy_rule> policy = {},
                std::vector<subagent_spec> children = {}) {
    rt->add_model("rules", function_model(std::move(rules)));
    deep_agent root{
        .name = "root",
        .model = "rules",
        .instruction = "You are a test.",
        .tools = {"request_input", "todo", tool("look", "Looks.", [] { return std::string{"seen"}; })},
        .spawn = spawn_config{}};
    root.policy = std::move(policy);
    root.subagents = std::move(children);
    place = editor_place{rt, rt->create_deep_agent(std::move(root))};
    server.emplace(
        [this](const std::string&, const std::vector<mcp_server_spec>& asked) {
          servers = asked;
          return place;
        },
        [this](const std::string& line) { ed.take(line); }, "1.2.3");
  }

  int send(const std::string& method, json params) {
    server->take(
        json{{"jsonrpc", "2.0"}, {"id", ++last}, {"method", method}, {"params", std::move(params)}}.dump());
    return last;
  }
  json call(const std::string& method, json params) { return ed.answer_to(send(method, std::move(params))); }
  void tell(const std::string& method, json params) {
    server->take(json{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}.dump());
  }
  void begin() {
    call("initialize", {{"protocolVersion", 1}});
    session = call("session/new", {{"cwd", "/tmp"}, {"mcpServers", json::array()}})["result"]["sessionId"];
  }
  int prompt(const std::string& text) {
    return send("session/prompt", {{"sessionId", session}, {"prompt", {{{"type", "text"}, {"text", text}}}}});
  }

  std::shared_ptr<runtime> rt = std::make_shared<runtime>();
  editor ed;
  editor_place place{rt, rt->create_deep_agent({})};
  std::string session;
  int last = 0;
  std::vector<mcp_server_spec> servers; // that the editor asked for
  std::optional<editor_server> server;
};

model_response echo(const model_request& request) {
  return text_response("You said: " + test::last_text(request));
}

} // namespace

TEST_CASE("an editor opens a session, prompts, and gets the answer once, streamed or not") {
  desk d{echo};
  const auto hello = d.call("initialize", {{"protocolVersion", 1}})["result"];
  CHECK(hello["protocolVersion"] == 1);
  CHECK(hello["agentCapabilities"]["loadSession"] == true);
  CHECK(hello["agentInfo"]["version"] == "1.2.3");
  d.begin();
  CHECK(d.ed.answer_to(d.prompt("hi"))["result"]["stopReason"] == "end_turn");
  CHECK(d.ed.text("agent_message_chunk") == "You said: hi");
  CHECK(d.ed.answer_to(d.prompt("again"))["result"]["stopReason"] == "end_turn");
  CHECK(d.ed.text("agent_message_chunk") == "You said: hiYou said: again");
}

TEST_CASE("an editor's MCP servers are taken as it writes them") {
  desk d{echo};
  d.call("initialize", {{"protocolVersion", 1}});
  auto open = [&d](json servers) {
    return d.call("session/new", {{"cwd", "/tmp"}, {"mcpServers", std::move(servers)}});
  };
  CHECK(open({{{"name", "my files"},
               {"command", "server"},
               {"args", {"$HOME"}},
               {"env", {{{"name", "KEY"}, {"value", "a$b"}}}}},
              {{"type", "http"},
               {"name", "web"},
               {"url", "https://example.com/mcp"},
               {"headers", json::array()}}})
            .contains("result"));
  REQUIRE(d.servers.size() == 2);
  CHECK(d.servers[0].name == "my_files");
  CHECK(d.servers[0].args.at(0) == "$$HOME");
  CHECK(d.servers[0].env.at("KEY") == "a$$b");
  CHECK(d.servers[1].url == "https://example.com/mcp");
  for (const auto& wrong : {json{{{"name", "x"}}}, json{{{"type", "sse"}, {"name", "x"}, {"url", "u"}}},
                            json{"text"}, json{{{"name", ""}, {"command", "c"}}}, json{5}})
    CHECK(open(wrong)["error"]["code"] == -32602);
}

TEST_CASE("tool calls, plans and children are shown") {
  desk d{[](const model_request& request) {
    if (request.agent != "root")
      return text_response("child says hello");
    switch (test::tool_turns(request)) {
    case 0:
      return call_response("todo", {{"items", {{{"text", "look"}, {"status", "in_progress"}}}}});
    case 1:
      return call_response("look", json::object());
    case 2:
      return call_response("spawn_subagent", {{"name", "helper"}, {"goal", "help"}});
    default:
      return text_response("done");
    }
  }};
  d.begin();
  CHECK(d.ed.answer_to(d.prompt("go"))["result"]["stopReason"] == "end_turn");
  const auto calls = d.ed.updates("tool_call");
  REQUIRE(calls.size() == 3);
  CHECK(calls[1]["title"] == "look");
  CHECK(calls[1]["status"] == "in_progress");
  CHECK(calls[2]["kind"] == "think");
  CHECK(calls[2]["title"] == "spawn_subagent helper");
  std::map<std::string, std::string> ended;
  std::string told;
  for (const auto& u : d.ed.updates("tool_call_update")) {
    if (u.contains("status"))
      ended[u["toolCallId"]] = u["status"];
    told += u["content"][0]["content"]["text"].get<std::string>();
  }
  CHECK(ended.size() == 3);
  CHECK(ended.at(calls[2]["toolCallId"]) == "completed");
  CHECK(told.find("helper: child says hello") != std::string::npos);
}

TEST_CASE("what policy asks is a request for permission") {
  desk d{[](const model_request& request) {
           return test::tool_turns(request) == 0 ? call_response("look", json::object())
                                                 : text_response(test::last_text(request));
         },
         {{.tool = "look", .decision = policy_decision::ask}}};
  d.begin();
  const int prompt = d.prompt("go");
  const auto asked = d.ed.request("session/request_permission");
  CHECK(asked["params"]["options"].size() == 2);
  CHECK(asked["params"]["toolCall"]["toolCallId"] == d.ed.updates("tool_call").at(0)["toolCallId"]);
  auto reply = [&](json outcome) {
    d.server->take(
        json{{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"result", {{"outcome", std::move(outcome)}}}}.dump());
  };
  SUBCASE("allowed") {
    reply({{"outcome", "selected"}, {"optionId", "0"}});
    d.ed.answer_to(prompt);
    CHECK(d.ed.text("agent_message_chunk") == "seen");
  }
  SUBCASE("refused") {
    reply({{"outcome", "selected"}, {"optionId", "1"}});
    d.ed.answer_to(prompt);
    CHECK(d.ed.text("agent_message_chunk").find("did not allow") != std::string::npos);
  }
  SUBCASE("cancelled") {
    d.tell("session/cancel", {{"sessionId", d.session}});
    reply({{"outcome", "cancelled"}});
    CHECK(d.ed.answer_to(prompt)["result"]["stopReason"] == "cancelled");
  }
  // Answers that nobody waits for change nothing.
  reply({{"outcome", "selected"}, {"optionId", "0"}});
  d.server->take(R"({"jsonrpc":"2.0","id":999,"result":{}})");
  CHECK(d.server->settle(20s));
}

TEST_CASE("a question without choices is said, and the next prompt answers it") {
  desk d{[](const model_request& request) {
    return test::tool_turns(request) == 0 ? call_response("request_input", {{"message", "Which colour?"}})
                                          : text_response("It is " + test::last_text(request));
  }};
  d.begin();
  CHECK(d.ed.answer_to(d.prompt("paint"))["result"]["stopReason"] == "end_turn");
  CHECK(d.ed.text("agent_message_chunk") == "Which colour?");
  CHECK(d.ed.answer_to(d.prompt("blue"))["result"]["stopReason"] == "end_turn");
  CHECK(d.ed.text("agent_message_chunk") == "Which colour?It is blue");
}

TEST_CASE("two children that ask at a time are both answered, one after the other") {
  desk d{[](const model_request& request) -> model_response {
           if (request.agent == "asker")
             return test::tool_turns(request) == 0
                        ? call_response("request_input",
                                        {{"message", "Which " + test::last_text(request) + "?"}})
                        : text_response(test::last_text(request));
           if (test::tool_turns(request) > 0)
             return text_response("both");
           auto both = call_response("asker", {{"request", "colour"}});
           both.parts.push_back(call_response("asker", {{"request", "size"}}).parts.front());
           return both;
         },
         {},
         {{.name = "asker", .goal = "Ask.", .tools = {"request_input"}}}};
  d.begin();
  CHECK(d.ed.answer_to(d.prompt("go"))["result"]["stopReason"] == "end_turn");
  CHECK(d.ed.answer_to(d.prompt("first"))["result"]["stopReason"] == "end_turn");
  const auto said = d.ed.text("agent_message_chunk");
  CHECK(said.find("Which colour?") != std::string::npos);
  CHECK(said.find("Which size?") != std::string::npos);
  CHECK(d.ed.answer_to(d.prompt("second"))["result"]["stopReason"] == "end_turn");
  CHECK(d.ed.text("agent_message_chunk").ends_with("both"));
}

TEST_CASE("a host that throws is an error of the request") {
  editor ed;
  editor_server server{[](const std::string&, const std::vector<mcp_server_spec>&) -> editor_place {
                         throw std::runtime_error{"no such place"};
                       },
                       [&ed](const std::string& line) { ed.take(line); }};
  server.take(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}})");
  server.take(R"({"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}})");
  CHECK(ed.answer_to(2)["error"]["code"] == -32603);
}

TEST_CASE("a session that was there is told from its log when it is loaded") {
  desk d{echo};
  d.begin();
  d.ed.answer_to(d.prompt("first"));
  d.call("session/close", {{"sessionId", d.session}});
  CHECK(d.ed.answer_to(d.prompt("closed"))["error"]["code"] == -32602);
  CHECK(d.call("session/load", {{"sessionId", d.session}, {"cwd", "/tmp"}, {"mcpServers", json::array()}})
            .contains("result"));
  CHECK(d.ed.text("user_message_chunk") == "first");
  CHECK(d.ed.text("agent_message_chunk") == "You said: firstYou said: first");
  CHECK(d.ed.answer_to(d.prompt("second"))["result"]["stopReason"] == "end_turn");
  CHECK(d.call("session/load", {{"sessionId", "nobody"}, {"cwd", "/tmp"}})["error"]["code"] == -32602);
}

TEST_CASE("prompts may hold files and images") {
  desk d{[](const model_request& request) {
    std::size_t data = 0;
    for (const auto& p : request.contents.back()->parts)
      data += std::holds_alternative<data_part>(p.value) ? 1 : 0;
    return text_response(std::to_string(data) + request.contents.back()->text());
  }};
  d.begin();
  d.ed.answer_to(
      d.send("session/prompt",
             {{"sessionId", d.session},
              {"prompt",
               {{{"type", "text"}, {"text", "see"}},
                {{"type", "image"}, {"mimeType", "image/png"}, {"data", "AAAA"}},
                {{"type", "resource_link"}, {"name", "a.txt"}, {"uri", "file:///a.txt"}},
                {{"type", "resource"}, {"resource", {{"uri", "file:///b"}, {"text", "inside"}}}}}}}));
  const auto said = d.ed.text("agent_message_chunk");
  CHECK(said.starts_with("1see"));
  CHECK(said.find("[a.txt](file:///a.txt)") != std::string::npos);
  CHECK(said.find("inside") != std::string::npos);
}

TEST_CASE("mistakes are answered, and what follows goes on") {
  desk d{echo};
  CHECK(d.call("session/new", {{"cwd", "/tmp"}})["error"]["code"] == -32600); // not initialized
  d.begin();
  CHECK(d.call("session/new", {{"cwd", "relative"}})["error"]["code"] == -32602);
  CHECK(d.call("session/new", json::array())["error"]["code"] == -32602);
  CHECK(d.call("no/such", json::object())["error"]["code"] == -32601);
  CHECK(d.call("session/prompt", {{"sessionId", "x"}, {"prompt", json::array()}})["error"]["code"] == -32602);
  CHECK(d.call("session/prompt", {{"sessionId", d.session}, {"prompt", "text"}})["error"]["code"] == -32602);
  CHECK(d.call("session/prompt",
               {{"sessionId", d.session}, {"prompt", {{{"type", "film"}}}}})["error"]["code"] == -32602);
  d.server->take("{broken");
  d.server->take(std::string(100'000, '['));
  d.server->take("[]");
  d.ed.wait_for([](const json& m) { return m.contains("error") && m["error"]["code"] == -32700; });
  CHECK(d.ed.answer_to(d.prompt("still"))["result"]["stopReason"] == "end_turn");
}

TEST_CASE("a run that fails is an error of its prompt, and a limit its stop reason") {
  desk d{[](const model_request& request) -> model_response {
    if (test::last_text(request) == "fail")
      throw std::runtime_error{"the model broke"};
    return text_response("fine");
  }};
  d.begin();
  CHECK(d.ed.answer_to(d.prompt("fail"))["error"]["data"]["code"] == "model_bad_response");
  CHECK(d.ed.answer_to(d.prompt("go on"))["result"]["stopReason"] == "end_turn");
}

TEST_CASE("secrets are masked for the editor") {
  desk d{[](const model_request&) { return text_response("the key is sk-ant-REDACTED"); }};
  d.begin();
  d.ed.answer_to(d.prompt("tell"));
  CHECK(d.ed.text("agent_message_chunk").find("abcdefghijklmnop") == std::string::npos);
}
