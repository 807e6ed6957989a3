// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "support/temporary_folder.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;

namespace {

bool has_result(const model_request& request) {
  return !request.contents.empty() && request.contents.back()->role == role::tool;
}

// The root asks the reviewer, who looks something up.
model_response delegate_once(const model_request& request) {
  if (has_result(request))
    return text_response("done");
  return request.agent == "reviewer" ? call_response("look", json::object())
                                     : call_response("reviewer", {{"request", "look"}});
}

struct exported {
  std::map<std::string, json> by_name;
  std::size_t spans = 0;
};

exported spans_in(const test_server& server) {
  exported out;
  for (const auto& request : server.requests()) {
    if (!request.head.starts_with("POST /v1/traces "))
      continue;
    const auto body = json::parse(request.body);
    for (const auto& span : body["resourceSpans"][0]["scopeSpans"][0]["spans"]) {
      out.by_name[span["name"].get<std::string>()] = span;
      ++out.spans;
    }
  }
  return out;
}

} // namespace

TEST_CASE("a runtime with an endpoint exports the tree of its run, and tools know their span") {
  test_server server{[](const seen_request&) { return answer(200, "{}"); }};
  std::string told;
  {
    runtime_options options;
    options.telemetry.otlp_endpoint = server.url();
    options.telemetry.from_environment = false;
    runtime rt{std::move(options)};
    rt.add_model("rules", function_model(delegate_once));
    auto look = std::make_shared<tool_definition>();
    look->name = "look";
    look->description = "Looks.";
    look->parameters = {{"type", "object"}};
    look->run = [&told](const json&, tool_context& context) {
      told = context.traceparent;
      return tool_result{"seen", {}, {}};
    };
    auto root = rt.create_deep_agent(
        {.name = "analyst",
         .model = "rules",
         .instruction = "Analyse.",
         .subagents = {
             {.name = "reviewer", .goal = "Review.", .tools = std::vector<tool_ref>{tool_ptr{look}}}}});
    auto run = root.run("Why?", {.session = "s1"});
    CHECK(run.outcome().completed());
  }
  const auto [spans, count] = spans_in(server);
  REQUIRE(spans.contains("invoke_agent analyst"));
  REQUIRE(spans.contains("execute_tool reviewer"));
  REQUIRE(spans.contains("invoke_agent reviewer"));
  REQUIRE(spans.contains("execute_tool look"));
  CHECK(count == 8); // two agents, two tool calls, four model calls
  CHECK_FALSE(spans.at("invoke_agent analyst").contains("parentSpanId"));
  CHECK(spans.at("execute_tool reviewer")["parentSpanId"] == spans.at("invoke_agent analyst")["spanId"]);
  CHECK(spans.at("invoke_agent reviewer")["parentSpanId"] == spans.at("execute_tool reviewer")["spanId"]);
  CHECK(spans.at("execute_tool look")["parentSpanId"] == spans.at("invoke_agent reviewer")["spanId"]);
  const auto& call = spans.at("execute_tool look");
  CHECK(told == "00-" + call["traceId"].get<std::string>() + "-" + call["spanId"].get<std::string>() + "-01");
}

TEST_CASE("an endpoint that is no URL cannot be used") {
  runtime_options options;
  options.telemetry.otlp_endpoint = "collector:4318";
  options.telemetry.from_environment = false;
  CHECK_THROWS_AS(runtime{std::move(options)}, config_error);
}

TEST_CASE("without an endpoint nothing is traced") {
  runtime_options options;
  options.telemetry.from_environment = false;
  runtime rt{std::move(options)};
  rt.add_model("rules", function_model(delegate_once));
  std::string told = "nothing";
  auto look = std::make_shared<tool_definition>();
  look->name = "reviewer";
  look->description = "Looks.";
  look->parameters = {{"type", "object"}};
  look->run = [&told](const json&, tool_context& context) {
    told = context.traceparent;
    return tool_result{"seen", {}, {}};
  };
  auto root = rt.create_deep_agent({.name = "analyst", .model = "rules", .tools = {tool_ptr{look}}});
  CHECK(root.run("Why?").outcome().completed());
  CHECK(told.empty());
}
