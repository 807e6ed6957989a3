// Agents as tools of an MCP server: both revisions, questions, cancellation, and clients that make no sense.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/server/internal/mcp_form.hpp>
#include <troupe/net/mcp/server/internal/request_state.hpp>
#include <troupe/net/mcp/server/mcp_server_session.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <future>
#include <optional>
#include <thread>
#include <vector>

using namespace troupe;
using namespace troupe::net;
using nlohmann::json;

namespace {

// A run that the test plays.
struct played final : mcp_agent_run {
  mcp_run_request request;
  std::shared_ptr<mcp_run_events> events;
  bool cancelled = false;
  std::vector<std::pair<std::string, std::optional<json>>> answers;

  void cancel() override { cancelled = true; }
  void answer(const std::string& question, std::optional<json> value) override {
    answers.emplace_back(question, std::move(value));
  }
  void completes(const std::string& text) const {
    events->on_end({outcome::make_completed(text), "s-1", {10, 0, 5, 0, 0}});
  }
};

struct troupe_of_two final : mcp_agents {
  std::vector<mcp_served_agent> names{{"root", "Does all."}, {"critic", "Finds faults."}};
  std::vector<std::shared_ptr<played>> runs;

  [[nodiscard]] const std::vector<mcp_served_agent>& list() const override { return names; }
  std::shared_ptr<mcp_agent_run> start(mcp_run_request request,
                                       std::shared_ptr<mcp_run_events> events) override {
    auto run = std::make_shared<played>();
    run->request = std::move(request);
    run->events = std::move(events);
    runs.push_back(run);
    return run;
  }
};

struct fixture {
  troupe_of_two agents;
  std::deque<json> written;
  mcp_server_session_options options;
  std::unique_ptr<mcp_server_session> server;

  void begin() {
    server = std::make_unique<mcp_server_session>(
        agents, options, [this](std::string text) { written.push_back(json::parse(text)); });
  }
  void raw(const std::string& text) {
    if (!server)
      begin();
    server->take(text);
  }
  json take() {
    REQUIRE_FALSE(written.empty());
    auto first = written.front();
    written.pop_front();
    return first;
  }
  void send(json message) {
    message["jsonrpc"] = "2.0";
    raw(message.dump());
  }
  // A request of the newer revision.
  void modern(json id, const std::string& method, json params = json::object(),
              json capabilities = json::object()) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = std::move(capabilities);
    send({{"id", std::move(id)}, {"method", method}, {"params", std::move(params)}});
  }
  void legacy(json id, const std::string& method, json params = json::object()) {
    send({{"id", std::move(id)}, {"method", method}, {"params", std::move(params)}});
  }
  void hello(json capabilities = json::object()) {
    legacy(1, "initialize", {{"protocolVersion", "2025-06-18"}, {"capabilities", std::move(capabilities)}});
    CHECK(take()["result"]["protocolVersion"] == "2025-06-18");
    send({{"method", "notifications/initialized"}});
  }
  played& run(std::size_t i = 0) {
    REQUIRE(agents.runs.size() > i);
    return *agents.runs[i];
  }
};

const json call_root = {{"name", "root"}, {"arguments", {{"prompt", "Do it."}}}};
const json yes_or_no = {{"type", "boolean"}};

} // namespace

TEST_CASE("a client of the newer revision finds the agents and calls one, without a session") {
  fixture f;
  f.modern(1, "server/discover");
  auto found = f.take()["result"];
  CHECK(found["supportedVersions"] == json{"2026-07-28"});
  CHECK(found["resultType"] == "complete");
  CHECK(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "troupe");
  f.modern("a", "tools/list");
  const auto list = f.take()["result"];
  REQUIRE(list["tools"].size() == 2);
  CHECK(list["tools"][1]["name"] == "critic");
  CHECK(list["tools"][0]["inputSchema"]["required"] == json{"prompt"});
  CHECK(list.contains("ttlMs"));
  auto call = call_root;
  call["arguments"]["session"] = "s-1";
  call["_meta"]["progressToken"] = "p";
  call["_meta"]["dev.troupe/hops"] = 2;
  f.modern(2, "tools/call", call);
  CHECK(f.run().request.prompt == "Do it.");
  CHECK(f.run().request.session == "s-1");
  CHECK(f.run().request.hops == 2);
  CHECK_FALSE(f.run().request.answerable);
  f.run().events->on_progress("root calls read_file");
  f.run().events->on_progress("root calls grep");
  for (int i = 1; i <= 2; ++i) {
    const auto told = f.take();
    CHECK(told["method"] == "notifications/progress");
    CHECK(told["params"]["progressToken"] == "p");
    CHECK(told["params"]["progress"] == i);
  }
  f.run().completes("Done.");
  const auto done = f.take();
  CHECK(done["id"] == 2);
  CHECK(done["result"]["content"][0]["text"] == "Done.");
  CHECK_FALSE(done["result"].contains("isError"));
  const auto& told = done["result"]["structuredContent"];
  CHECK(told["status"] == "completed");
  CHECK(told["text"] == "Done.");
  CHECK(told["session"] == "s-1");
  CHECK(told["usage"]["input"] == 10);
  CHECK(f.written.empty());
}

TEST_CASE("a client of an older revision begins with initialize") {
  fixture f;
  f.hello();
  f.legacy(2, "ping");
  CHECK(f.take()["result"] == json::object());
  f.legacy(3, "tools/list");
  const auto list = f.take()["result"];
  CHECK(list["tools"].size() == 2);
  CHECK_FALSE(list.contains("resultType"));
  f.legacy(4, "tools/call", call_root);
  f.run().events->on_end({outcome::make_failed(errc::max_turns, "Too many.", "half"), "s-2", {}});
  const auto done = f.take()["result"];
  CHECK(done["isError"] == true);
  CHECK(done["structuredContent"]["status"] == "failed");
  CHECK(done["structuredContent"]["text"] == "half");
  CHECK(done["structuredContent"]["error"] == "max_turns: Too many.");
  f.legacy(5, "initialize", {{"protocolVersion", "1999-01-01"}});
  CHECK(f.take()["result"]["protocolVersion"] == "2025-11-25");
}

TEST_CASE("what cannot be served is refused with the right code") {
  fixture f;
  f.modern(1, "resources/list");
  CHECK(f.take()["error"]["code"] == -32601);
  f.modern(2, "tools/call", {{"name", "nobody"}});
  CHECK(f.take()["error"]["code"] == -32602);
  f.send({{"id", 3},
          {"method", "tools/list"},
          {"params", {{"_meta", {{"io.modelcontextprotocol/protocolVersion", "2030-01-01"}}}}}});
  const auto version = f.take()["error"];
  CHECK(version["code"] == -32022);
  CHECK(version["data"]["supported"] == json{"2026-07-28"});
  f.send({{"id", 4},
          {"method", "tools/list"},
          {"params", {{"_meta", {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}}}}}});
  CHECK(f.take()["error"]["code"] == -32602);
  for (const json& bad :
       {json{{"name", "root"}}, json{{"name", "root"}, {"arguments", {{"prompt", 5}}}},
        json{{"name", "root"}, {"arguments", {{"prompt", "x"}, {"session", "no such/name"}}}}}) {
    f.modern(5, "tools/call", bad);
    CHECK(f.take()["result"]["isError"] == true);
  }
  auto far = call_root;
  far["_meta"]["dev.troupe/hops"] = 5;
  f.modern(6, "tools/call", far);
  CHECK(f.take()["result"]["content"][0]["text"].get<std::string>().find("at most 4") != std::string::npos);
  f.raw("garbage");
  CHECK(f.take()["error"]["code"] == -32700);
  f.raw("{\"jsonrpc\":\"2.0\",\"id\":7}");
  CHECK(f.take().contains("error"));
  f.raw(R"({"jsonrpc":"2.0","id":"x","result":{}})"); // an answer to nothing
  CHECK(f.written.empty());
  CHECK(f.agents.runs.empty());
}

TEST_CASE("calls have a bound, and an id is used by one at a time") {
  fixture f;
  f.options.max_calls = 1;
  f.modern(1, "tools/call", call_root);
  f.modern(1, "tools/call", call_root);
  CHECK(f.take()["error"]["code"] == -32600);
  f.modern(2, "tools/call", call_root);
  CHECK(f.take()["result"]["isError"] == true);
  f.run().completes("x");
  CHECK(f.take()["id"] == 1);
  f.modern(1, "tools/call", call_root);
  CHECK(f.agents.runs.size() == 2);
}

TEST_CASE("a prompt may be empty") {
  fixture f;
  f.modern(1, "tools/call", {{"name", "root"}, {"arguments", {{"prompt", ""}}}});
  CHECK(f.run().request.prompt.empty());
  CHECK(f.written.empty());
}

TEST_CASE("the end waits for what is being written, and nothing is done afterwards") {
  troupe_of_two agents;
  std::promise<void> inside;
  std::atomic<bool> closing{false};
  std::atomic<bool> closed{false};
  bool closed_within = true;
  auto server = std::make_unique<mcp_server_session>(agents, mcp_server_session_options{}, [&](std::string) {
    inside.set_value();
    while (!closing)
      std::this_thread::yield();
    for (int i = 0; i < 10'000 && !closed; ++i)
      std::this_thread::yield();
    closed_within = closed;
  });
  std::thread writer{[&] { server->take(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"); }};
  inside.get_future().wait();
  server->take(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":)" + call_root.dump() + "}");
  closing = true;
  server->close();
  closed = true;
  writer.join();
  CHECK_FALSE(closed_within);
  CHECK(agents.runs.empty());
}

TEST_CASE("the end may come from within what is being written") {
  fixture f;
  f.server =
      std::make_unique<mcp_server_session>(f.agents, f.options, [&f](std::string) { f.server->close(); });
  f.modern(1, "tools/call", call_root);
  f.legacy(2, "ping");
  CHECK(f.run().cancelled);
}

TEST_CASE("a cancelled call ends its run and is not answered; so do all when the client goes") {
  fixture f;
  f.hello();
  f.legacy(2, "tools/call", call_root);
  f.legacy(3, "tools/call", call_root);
  f.send({{"method", "notifications/cancelled"}, {"params", {{"requestId", 2}}}});
  CHECK(f.run(0).cancelled);
  CHECK_FALSE(f.run(1).cancelled);
  f.run(0).events->on_end({outcome::make_cancelled("client"), "s", {}});
  CHECK(f.written.empty());
  f.server->close();
  CHECK(f.run(1).cancelled);
  f.run(1).completes("late");
  CHECK(f.written.empty());
}

TEST_CASE("in the older revision a question is a request of the server") {
  fixture f;
  f.hello({{"elicitation", json::object()}});
  f.legacy(2, "tools/call", call_root);
  CHECK(f.run().request.answerable);
  f.run().events->on_question({"q1", "May I?", yes_or_no});
  f.run().events->on_question({"q2", "And this?", yes_or_no}); // asked after the first
  const auto asked = f.take();
  CHECK(asked["method"] == "elicitation/create");
  CHECK(asked["params"]["message"] == "May I?");
  CHECK(asked["params"]["requestedSchema"]["properties"]["answer"]["type"] == "boolean");
  CHECK(f.written.empty());
  f.send({{"id", asked["id"]}, {"result", {{"action", "accept"}, {"content", {{"answer", true}}}}}});
  REQUIRE(f.run().answers.size() == 1);
  CHECK(f.run().answers[0].first == "q1");
  CHECK(f.run().answers[0].second == json(true));
  const auto second = f.take();
  f.send({{"id", second["id"]}, {"result", {{"action", "decline"}}}});
  REQUIRE(f.run().answers.size() == 2);
  CHECK_FALSE(f.run().answers[1].second);
  f.send({{"id", second["id"]}, {"result", {{"action", "accept"}}}}); // twice
  CHECK(f.run().answers.size() == 2);
  f.run().completes("Done.");
  CHECK(f.take()["id"] == 2);
}

TEST_CASE("in the newer revision a question is a result, and the client comes again") {
  fixture f;
  const json able = {{"elicitation", {{"form", json::object()}}}};
  f.modern(2, "tools/call", call_root, able);
  f.run().events->on_question({"q1", "May I?", yes_or_no});
  const auto asked = f.take();
  CHECK(asked["id"] == 2);
  CHECK(asked["result"]["resultType"] == "input_required");
  const auto& form = asked["result"]["inputRequests"]["answer"];
  CHECK(form["method"] == "elicitation/create");
  CHECK(form["params"]["mode"] == "form");
  const auto state = asked["result"]["requestState"].get<std::string>();

  auto again = call_root;
  again["inputResponses"] = {{"answer", {{"action", "accept"}, {"content", {{"answer", false}}}}}};
  SUBCASE("with the answer") {
    again["requestState"] = state;
    f.modern(3, "tools/call", again, able);
    REQUIRE(f.run().answers.size() == 1);
    CHECK(f.run().answers[0].second == json(false));
    f.modern(4, "tools/call", again, able); // twice
    CHECK(f.take()["result"]["isError"] == true);
    f.run().completes("Done.");
    CHECK(f.take()["id"] == 3);
    CHECK(f.agents.runs.size() == 1);
  }
  SUBCASE("with a state that was changed") {
    for (const auto& wrong :
         {std::string{"1:q1"}, std::string{"1:q1.00"}, "2" + state.substr(1), std::string{}}) {
      again["requestState"] = wrong;
      f.modern(3, "tools/call", again, able);
      CHECK(f.take()["error"]["code"] == -32602);
    }
    CHECK(f.run().answers.empty());
  }
  SUBCASE("after the run has ended") {
    f.run().completes("Went on without.");
    CHECK(f.written.empty());
    again["requestState"] = state;
    f.modern(3, "tools/call", again, able);
    const auto done = f.take();
    CHECK(done["id"] == 3);
    CHECK(done["result"]["content"][0]["text"] == "Went on without.");
  }
}

TEST_CASE("a client that comes again without the answer, or to an earlier question, is asked again") {
  fixture f;
  const json able = {{"elicitation", json::object()}};
  f.modern(1, "tools/call", call_root, able);
  f.run().events->on_question({"q1", "First?", yes_or_no});
  const auto first = f.take()["result"]["requestState"];
  auto again = call_root;
  again["requestState"] = first;
  f.modern(2, "tools/call", again, able);
  auto asked = f.take();
  CHECK(asked["id"] == 2);
  CHECK(asked["result"]["inputRequests"]["answer"]["params"]["message"] == "First?");
  CHECK(f.run().answers.empty());
  f.run().events->on_question({"q2", "Second?", yes_or_no});
  SUBCASE("the first was answered") {
    again["inputResponses"] = {{"answer", {{"action", "accept"}, {"content", {{"answer", true}}}}}};
    f.modern(3, "tools/call", again, able);
    CHECK(f.run().answers.size() == 1);
    CHECK(f.take()["id"] == 3);
  }
  SUBCASE("the first was withdrawn") {
    f.run().events->on_question_closed("q1");
    CHECK(f.written.empty());
  }
  const auto before = f.run().answers.size();
  again["inputResponses"] = {{"answer", {{"action", "accept"}, {"content", {{"answer", true}}}}}};
  f.modern(4, "tools/call", again, able); // with the state of the first
  asked = f.take();
  CHECK(asked["id"] == 4);
  CHECK(asked["result"]["inputRequests"]["answer"]["params"]["message"] == "Second?");
  CHECK(f.run().answers.size() == before);
  again["requestState"] = asked["result"]["requestState"];
  f.modern(5, "tools/call", again, able);
  CHECK(f.run().answers.back().first == "q2");
}

TEST_CASE("a question that is withdrawn is taken back in the older revision") {
  fixture f;
  f.hello({{"elicitation", json::object()}});
  f.legacy(2, "tools/call", call_root);
  f.run().events->on_question({"q1", "First?", yes_or_no});
  f.run().events->on_question({"q2", "Second?", yes_or_no});
  const auto asked = f.take();
  f.run().events->on_question_closed("q1");
  const auto told = f.take();
  CHECK(told["method"] == "notifications/cancelled");
  CHECK(told["params"]["requestId"] == asked["id"]);
  CHECK(f.take()["params"]["message"] == "Second?");
  f.send({{"id", asked["id"]}, {"result", {{"action", "accept"}, {"content", {{"answer", true}}}}}}); // late
  CHECK(f.run().answers.empty());
}

TEST_CASE("calls that wait for their clients keep nobody from calling") {
  fixture f; // with the bounds as they are
  const json able = {{"elicitation", json::object()}};
  const auto count = f.options.max_calls + 3;
  for (std::size_t i = 0; i < count; ++i) {
    f.modern(i, "tools/call", call_root, able);
    f.run(i).events->on_question({"q", "?", yes_or_no});
    CHECK(f.take()["result"]["resultType"] == "input_required");
    if (i == 2)
      f.run(2).completes("nobody fetches it"); // gives way first
  }
  CHECK_FALSE(f.run(2).cancelled);
  CHECK(f.run(0).cancelled);
  CHECK(f.run(1).cancelled);
  CHECK_FALSE(f.run(3).cancelled);
  f.modern("more", "tools/call", call_root, able);
  CHECK(f.agents.runs.size() == count + 1);
}

TEST_CASE("secrets in a question are masked, in its words and in its form") {
  fixture f;
  const json able = {{"elicitation", json::object()}};
  const json schema = {
      {"type", "object"},
      {"properties",
       {{"password", {{"type", "string"}, {"default", "hunter2secret"}}},
        {"note", {{"type", "string"}, {"description", "as in api_key=abcdef0123456789abcdef"}}}}}};
  f.modern(1, "tools/call", call_root, able);
  f.run().events->on_question({"q1", "Is password=hunter2secret right?", schema});
  const auto asked = f.take();
  const auto text = asked.dump();
  CHECK(text.find("hunter2secret") == std::string::npos);
  CHECK(text.find("abcdef0123456789abcdef") == std::string::npos);
  CHECK(asked["result"]["inputRequests"]["answer"]["params"]["requestedSchema"]["properties"]["password"]
             ["type"] == "string");
}

TEST_CASE("clients that never come again are bounded") {
  fixture f;
  f.options.max_parked = 1;
  const json able = {{"elicitation", json::object()}};
  f.modern(1, "tools/call", call_root, able);
  f.modern(2, "tools/call", call_root, able);
  f.run(0).events->on_question({"q", "?", yes_or_no});
  f.run(1).events->on_question({"q", "?", yes_or_no});
  CHECK(f.run(0).cancelled);
  CHECK_FALSE(f.run(1).cancelled);
}

TEST_CASE("questions become forms of simple fields") {
  const json flat = {{"type", "object"},
                     {"properties", {{"n", {{"type", "integer"}}}}},
                     {"required", {"n"}},
                     {"additionalProperties", false}};
  CHECK(mcp_form_schema(flat) ==
        json{{"type", "object"}, {"properties", flat["properties"]}, {"required", {"n"}}});
  CHECK(read_mcp_form(flat, {{"action", "accept"}, {"content", {{"n", 5}}}}) == json{{"n", 5}});
  const json deep = {{"type", "array"}, {"items", {{"type", "integer"}}}};
  CHECK(mcp_form_schema(deep)["properties"]["answer"]["type"] == "string");
  CHECK(read_mcp_form(deep, {{"action", "accept"}, {"content", {{"answer", "[1,2]"}}}}) == json{1, 2});
  CHECK(read_mcp_form(nullptr, {{"action", "accept"}, {"content", {{"answer", "text"}}}}) == json("text"));
  CHECK_FALSE(read_mcp_form(flat, {{"action", "cancel"}}));
  CHECK_FALSE(read_mcp_form(flat, "no"));
  CHECK_FALSE(read_mcp_form(yes_or_no, {{"action", "accept"}, {"content", json::object()}}));
}

TEST_CASE("a sealed state opens only as it was, and only with its key") {
  const auto key = request_state::make_key();
  REQUIRE(key);
  const request_state state{*key};
  const auto sealed = state.seal("7:q.1");
  CHECK(state.open(sealed) == "7:q.1");
  CHECK_FALSE(state.open("8" + sealed.substr(1)));
  CHECK_FALSE(state.open(sealed + "0"));
  CHECK_FALSE(state.open(""));
  CHECK_FALSE(request_state{*request_state::make_key()}.open(sealed));
}
