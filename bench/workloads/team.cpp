// SPDX-License-Identifier: Apache-2.0
#include "team.hpp"

#include <chrono>
#include <utility>

namespace troupe::bench {

using nlohmann::json;

tool_ptr lookup() {
  tool_definition t;
  t.name = "lookup";
  t.description = "Looks up one item.";
  t.parameters = json::parse(R"({"type":"object","properties":{"i":{"type":"integer"},"t":{"type":"integer"},
                                 "k":{"type":"integer"}}})");
  t.annotations = {.read_only = true, .runs_inline = true};
  t.run = [](const json&, tool_context&) { return tool_result{"v", {}, {}}; };
  return std::make_shared<const tool_definition>(std::move(t));
}

tool_ptr note() {
  tool_definition t;
  t.name = "note";
  t.description = "Takes a note.";
  t.parameters = {{"type", "object"}};
  t.annotations = {.read_only = true, .runs_inline = true};
  t.run = [](const json&, tool_context&) { return tool_result{"noted", {}, {}}; };
  return std::make_shared<const tool_definition>(std::move(t));
}

deep_agent fan_out_team(std::uint32_t children, std::uint32_t tool_turns) {
  deep_agent spec;
  spec.name = "root";
  spec.model = "inside";
  spec.instruction = "You are an agent.";
  spec.run.max_children = children;
  spec.limits.timeout = std::chrono::hours{1};
  agent_limits limits;
  limits.max_turns = tool_turns + 2;
  limits.timeout = std::chrono::hours{1};
  spec.subagents = {{.name = "subagent",
                     .instruction = "You are an agent.",
                     .description = "Does one piece of work.",
                     .tools = {lookup()},
                     .limits = limits}};
  return spec;
}

model_response child_turns(const model_request& request, std::uint32_t children, std::uint32_t tool_turns,
                           const std::string& note) {
  if (request.agent != "root") {
    if (request.turn >= tool_turns)
      return text_response("child-ok");
    return call_response("lookup", {{"i", 17}, {"t", request.turn}, {"k", 0}});
  }
  if (request.turn > 0)
    return text_response("root-ok");
  model_response response;
  response.finish = finish_reason::tool_calls;
  for (std::uint32_t i = 0; i < children; ++i) {
    const json order = {
        {"plan", "child"}, {"i", i}, {"turns", tool_turns + 1}, {"tool", "lookup"}, {"note", note}};
    response.parts.push_back({tool_call_part{{}, "subagent", json{{"request", order.dump()}}.dump()}, {}});
  }
  return response;
}

activity_counts count_log(session_store& store, const session_id& session) {
  activity_counts counts;
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    auto page = store.read(session, after, 10'000);
    if (!page || page->batches.empty())
      break;
    for (const auto& batch : page->batches)
      for (const auto& e : *batch)
        counts.add(e);
    after = page->batches.back()->back().seq;
    more = page->more;
  }
  return counts;
}

} // namespace troupe::bench
