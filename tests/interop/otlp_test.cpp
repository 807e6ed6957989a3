// What we send to collectors is read by OpenTelemetry's own messages, and the tree of agents comes out of it again.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/otlp_json.hpp>
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "interop/node.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_server.hpp"
#include "telemetry/vitals.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;

namespace {

part call_of(std::string name, const json& arguments) {
  return {tool_call_part{{}, std::move(name), arguments.dump()}, {}};
}

// The root asks three workers at once, and sets one off in the background; each worker notes something down.
model_response play(const model_request& request) {
  const bool answered = !request.contents.empty() && request.contents.back()->role == role::tool;
  if (answered)
    return text_response("done, with token=abcdefghijklmnop1234");
  if (request.agent != "root" && request.agent != "worker")
    return text_response("found");
  model_response r;
  r.finish = finish_reason::tool_calls;
  r.usage = {100, 20, 30, 10, 0};
  if (request.agent == "worker") {
    r.parts.push_back(call_of("note", json::object()));
    return r;
  }
  if (request.contents.size() > 1)
    return text_response("and the scout is back");
  for (int i = 0; i < 3; ++i)
    r.parts.push_back(call_of("worker", {{"request", "part " + std::to_string(i)}}));
  r.parts.push_back(
      call_of("spawn_subagent",
              {{"name", "scout"}, {"goal", "Look around."}, {"model", "rules"}, {"background", true}}));
  return r;
}

// The paths of all agents as the log has them; see otlp.cjs.
std::vector<std::string> paths_in_log(session_store& store, const session_id& session) {
  std::map<agent_number, std::string> paths;
  std::vector<std::string> all;
  const auto page = store.read(session, 0, 100'000);
  REQUIRE(page);
  for (const auto& batch : page->batches)
    for (const auto& e : *batch) {
      if (e.kind() != event_kind::agent_started)
        continue;
      agent_number above = 0;
      const auto& call = e.origin->parent_call;
      auto& path = paths[e.origin->number];
      path = agent_of_call(call, above) ? paths[above] + "/" + e.author() + "@" + call.str() : e.author();
      all.push_back(path);
    }
  std::sort(all.begin(), all.end());
  return all;
}

void add_line(std::ofstream& out, const std::string& path, const std::string& body) {
  out << json{{"path", path}, {"body", body}}.dump() << '\n';
}

} // namespace

TEST_CASE("OpenTelemetry's messages read what we send, and the agents are those of the log") {
  const temporary_folder folder;
  if (!has_node(folder.path()))
    return;
  if (!std::filesystem::is_directory(TROUPE_NODE_MODULES "/@opentelemetry/otlp-transformer")) {
    MESSAGE("skipped: the packages of tests/interop are older than package.json; ./dev test installs them");
    return;
  }
  test_server server{[](const seen_request&) { return answer(200, "{}"); }};
  std::shared_ptr<session_store> store = *open_store("memory", durability::memory);
  {
    runtime_options options;
    options.store = store;
    options.telemetry.otlp_endpoint = server.url();
    options.telemetry.from_environment = false;
    options.telemetry.capture_content = true;
    runtime rt{std::move(options)};
    rt.add_model("rules", function_model(play));
    auto note = std::make_shared<tool_definition>();
    note->name = "note";
    note->description = "Notes something down.";
    note->parameters = {{"type", "object"}};
    note->run = [](const json&, tool_context&) {
      return tool_result::failure(errc::tool_failed, "no \"pen\"\n\xff");
    };
    deep_agent spec{.name = "root", .model = "rules"};
    spec.subagents = {{.name = "worker", .goal = "Work.", .tools = std::vector<tool_ref>{tool_ptr{note}}}};
    spec.spawn = spawn_config{};
    auto root = rt.create_deep_agent(std::move(spec));
    auto run = root.run("Go, all of you.", {.session = "s1"});
    CHECK(run.outcome().completed());
    CHECK(rt.session("s1").wait_quiet(std::chrono::seconds{20}));
  }
  const auto lines = folder.path() / "bodies.jsonl";
  {
    std::ofstream out{lines};
    for (const auto& request : server.requests()) {
      const auto begin = request.head.find(' ') + 1;
      add_line(out, request.head.substr(begin, request.head.find(' ', begin) - begin), request.body);
    }
    const auto vitals = some_vitals();
    const auto models = some_models();
    add_line(
        out, "/v1/metrics",
        otlp_metrics({{{"service.name", "x"}}, "1"}, {vitals, models, 1, timestamp{std::chrono::seconds{1}},
                                                      timestamp{std::chrono::seconds{2}}}));
  }
  const auto ran = run_script(folder.path(), "otlp.cjs", {lines.string()});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto seen = json::parse(ran.out);
  const auto expected = paths_in_log(*store, session_id{"s1"});
  CHECK(std::count_if(expected.begin(), expected.end(),
                      [](const std::string& path) { return path.starts_with("root/worker@"); }) == 3);
  CHECK(std::count_if(expected.begin(), expected.end(),
                      [](const std::string& path) { return path.starts_with("root/scout@"); }) == 1);
  CHECK(seen["agents"].get<std::vector<std::string>>() == expected);
  const auto metrics = seen["metrics"].get<std::vector<std::string>>();
  for (const std::string name :
       {"gen_ai.client.operation.duration", "gen_ai.invoke_agent.duration", "gen_ai.execute_tool.duration",
        "gen_ai.client.inference.usage.input_tokens"})
    CHECK(std::find(metrics.begin(), metrics.end(), name) != metrics.end());
}
