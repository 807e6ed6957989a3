// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/telemetry_names.hpp>

#include <doctest/doctest.h>

#include "telemetry/span_log.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

trace_options seeded() {
  trace_options options;
  options.seed = "seed";
  options.model_of = [](const std::string& id) {
    return id == "fast" ? traced_model{"openai", "gpt-fast"} : traced_model{};
  };
  return options;
}

std::vector<trace_span> spans_of(const span_log& log, const trace_options& options = seeded(),
                                 bool close = false) {
  trace_builder builder{options};
  for (const auto& e : log.events)
    builder.add(*e);
  if (close)
    builder.close_all();
  return builder.take();
}

const auto root = agent_origin("s", 1, 0, "root");

// A root that reads a file, asks a child, and answers.
span_log plain_run() {
  span_log log;
  log.starts(root, 100);
  log.add(root, 100, user_message_body{std::make_shared<const content>(make_text(role::user, "hello"))});
  log.says(root, 200, 90, "thinking about it, password=hunter2secret");
  log.calls(root, 200, "c0-0-0", "read_file", R"({"path":"a","api_key":"k-123456789"})");
  log.calls(root, 200, "c0-0-1", "checker");
  log.result(root, 230, "c0-0-0", "read_file", 20, errc::not_found);
  const auto child = agent_origin("s", 1, 1, "checker", "c0-0-1");
  log.starts(child, 210, "prebuilt");
  log.says(child, 260, 40, "fine");
  log.ends(child, 260);
  log.result(root, 270, "c0-0-1", "checker");
  log.says(root, 300, 25, "all good");
  log.ends(root, 300, outcome::make_completed("all good"));
  return log;
}

} // namespace

TEST_CASE("A run is one trace: agents, model calls and tool calls below each other") {
  const auto spans = spans_of(plain_run());
  CHECK(span_tree(spans) == "invoke_agent root 100-300\n"
                            "  chat gpt-fast 110-200\n"
                            "  execute_tool checker 200-270\n"
                            "    invoke_agent checker 210-260\n"
                            "      chat gpt-fast 220-260\n"
                            "  execute_tool read_file 210-230 error\n"
                            "  chat gpt-fast 275-300\n");
  for (const auto& s : spans)
    CHECK(s.trace_id == trace_id_of("seed", run_id{"s/r1"}));
}

TEST_CASE("Spans carry what the conventions ask for, and no content") {
  const auto spans = spans_of(plain_run());
  const auto& agent = *find_span(spans, "invoke_agent root");
  CHECK(agent.kind == span_kind::internal);
  CHECK(agent.parent_id.empty());
  CHECK(attribute(agent.attributes, otel::agent_name) == "root");
  CHECK(attribute(agent.attributes, otel::conversation_id) == "s");
  CHECK(attribute(agent.attributes, otel::provider_name) == "openai");
  CHECK(attribute(agent.attributes, otel::usage_input) == "20");
  CHECK(attribute(agent.attributes, otel::outcome) == "completed");
  const auto& chat = *find_span(spans, "chat gpt-fast");
  CHECK(chat.kind == span_kind::client);
  CHECK(attribute(chat.attributes, otel::operation_name) == "chat");
  CHECK(attribute(chat.attributes, otel::usage_cache_read) == "4");
  CHECK(attribute(chat.attributes, otel::usage_reasoning) == "1");
  CHECK(attribute(chat.attributes, otel::time_to_first_chunk) == "0.002000");
  CHECK(attribute(chat.attributes, otel::queue_wait) == "0.001000");
  const auto& tool = *find_span(spans, "execute_tool read_file");
  CHECK(tool.status == span_status::error);
  CHECK(attribute(tool.attributes, otel::error_type) == "not_found");
  CHECK(attribute(tool.attributes, otel::tool_call_id) == "c0-0-0");
  CHECK(traceparent("seed", run_id{"s/r1"}, session_id{"s"}, call_id{"c0-0-0"}) ==
        "00-" + tool.trace_id + "-" + tool.span_id + "-01");
  for (const auto& s : spans)
    for (const auto* key :
         {otel::input_messages, otel::output_messages, otel::tool_arguments, otel::tool_result})
      CHECK(attribute(s.attributes, key).empty());
}

TEST_CASE("Content is captured where it is asked for, masked and cut") {
  auto options = seeded();
  options.capture_content = true;
  auto spans = spans_of(plain_run(), options);
  CHECK(attribute(find_span(spans, "invoke_agent root")->attributes, otel::input_messages) ==
        R"([{"parts":[{"content":"hello","type":"text"}],"role":"user"}])");
  const auto said = attribute(find_span(spans, "chat gpt-fast")->attributes, otel::output_messages);
  CHECK(said.find("thinking about it") != std::string::npos);
  CHECK(said.find("hunter2secret") == std::string::npos);
  CHECK(said.find("\"tool_call\"") != std::string::npos);
  const auto& tool = *find_span(spans, "execute_tool read_file");
  CHECK(attribute(tool.attributes, otel::tool_arguments).find("k-123456789") == std::string::npos);
  CHECK(attribute(tool.attributes, otel::tool_result) == "result");
  options.max_content_bytes = 8;
  spans = spans_of(plain_run(), options);
  CHECK(attribute(find_span(spans, "chat gpt-fast")->attributes, otel::output_messages) ==
        R"([{"parts":[{"content":"thinking","type":"text"}],"role":"assistant"}])");
}

TEST_CASE("An agent that never ends is closed as incomplete, with its calls") {
  span_log log;
  log.starts(root, 100);
  log.says(root, 200, 50, "x");
  log.calls(root, 200, "c0-0-0", "slow");
  log.starts(agent_origin("t", 1, 0, "other"), 400);
  CHECK(span_tree(spans_of(log)) == "? chat gpt-fast 150-200\n");
  CHECK(span_tree(spans_of(log, seeded(), true)) == "invoke_agent root 100-400 incomplete\n"
                                                    "  chat gpt-fast 150-200\n"
                                                    "  execute_tool slow 200-400 incomplete\n"
                                                    "invoke_agent other 400-400 incomplete\n");
}

TEST_CASE("A cancelled run says by whom, and is no error") {
  span_log log;
  log.starts(root, 100);
  log.calls(root, 150, "c0-0-0", "slow");
  log.result(root, 200, "c0-0-0", "slow", 0, errc::cancelled);
  log.ends(root, 200, outcome::make_cancelled("user"));
  const auto spans = spans_of(log);
  CHECK(span_tree(spans) == "invoke_agent root 100-200\n"
                            "  execute_tool slow 150-200 error\n");
  CHECK(attribute(find_span(spans, "invoke_agent root")->attributes, otel::outcome) == "cancelled");
  CHECK(attribute(find_span(spans, "invoke_agent root")->attributes, otel::cancelled_by) == "user");
}

TEST_CASE("A failure is the status of its agent, with a masked reason") {
  span_log log;
  log.starts(root, 100);
  log.add(root, 150, error_body{errc::model_auth, "401 for api_key=sk-abcdefghijklmnop1234"});
  log.ends(root, 150, outcome::make_failed(errc::model_auth, "401 for api_key=sk-abcdefghijklmnop1234"));
  const auto spans = spans_of(log);
  const auto& agent = *find_span(spans, "invoke_agent root");
  CHECK(agent.status == span_status::error);
  CHECK(attribute(agent.attributes, otel::error_type) == "model_auth");
  CHECK(agent.status_message.starts_with("401 for"));
  CHECK(agent.status_message.find("abcdefghijklmnop") == std::string::npos);
  REQUIRE(agent.events.size() == 1);
  CHECK(agent.events[0].name == otel::event_exception);
  CHECK(attribute(agent.events[0].attributes, otel::error_type) == "model_auth");
}

TEST_CASE("Two calls of one agent at the same time stay apart") {
  span_log log;
  const auto one = agent_origin("s", 1, 1, "checker", "c0-0-0");
  const auto two = agent_origin("s", 1, 2, "checker", "c0-0-1");
  log.starts(root, 0);
  log.calls(root, 10, "c0-0-0", "checker");
  log.calls(root, 11, "c0-0-1", "checker");
  log.starts(one, 12);
  log.starts(two, 13);
  log.says(two, 30, 10, "b");
  log.ends(two, 30);
  log.result(root, 31, "c0-0-1", "checker");
  log.says(one, 40, 20, "a");
  log.ends(one, 40);
  log.result(root, 41, "c0-0-0", "checker");
  log.ends(root, 50);
  CHECK(span_tree(spans_of(log)) == "invoke_agent root 0-50\n"
                                    "  execute_tool checker 10-41\n"
                                    "    invoke_agent checker 12-40\n"
                                    "      chat gpt-fast 20-40\n"
                                    "  execute_tool checker 11-31\n"
                                    "    invoke_agent checker 13-30\n"
                                    "      chat gpt-fast 20-30\n");
}

TEST_CASE("Background work stays below the call that launched it; the run that it wakes links to it") {
  span_log log;
  const auto child = agent_origin("s", 1, 1, "scout", "c0-0-0");
  const auto woken = agent_origin("s", 2, 0, "root");
  log.starts(root, 0);
  log.calls(root, 10, "c0-0-0", "spawn_subagent");
  log.result(root, 11, "c0-0-0", "spawn_subagent");
  log.starts(child, 12, "spawned", true);
  log.ends(root, 20);
  log.ends(child, 90);
  log.add(root, 91, background_result_body{call_id{"c0-0-0"}, "scout", outcome::make_completed("found")});
  log.starts(woken, 92, "root", true);
  log.ends(woken, 99);
  const auto spans = spans_of(log);
  CHECK(span_tree(spans) == "invoke_agent root 0-20\n"
                            "  execute_tool spawn_subagent 10-11\n"
                            "    invoke_agent scout 12-90\n"
                            "invoke_agent root 92-99\n");
  const auto& run = spans.back();
  const auto& task = *find_span(spans, "invoke_agent scout");
  CHECK(run.trace_id == trace_id_of("seed", run_id{"s/r2"}));
  CHECK(run.trace_id != task.trace_id);
  REQUIRE(run.links.size() == 1);
  CHECK(run.links[0] == span_link{task.trace_id, task.span_id});
}

TEST_CASE("Beyond the bound the oldest span is closed, counted, and does not come again") {
  auto options = seeded();
  options.max_open = 2;
  trace_builder builder{options};
  span_log log;
  log.starts(root, 0);
  log.calls(root, 10, "c0-0-0", "a");
  log.calls(root, 20, "c0-0-1", "b");
  log.result(root, 30, "c0-0-0", "a");
  log.says(root, 40, 5, "x");
  log.ends(root, 50);
  for (const auto& e : log.events)
    builder.add(*e);
  CHECK(builder.closed_early() == 1);
  CHECK(builder.open() == 1);
  builder.close_all();
  CHECK(span_tree(builder.take()) == "invoke_agent root 0-20 incomplete\n"
                                     "  execute_tool a 10-30\n"
                                     "  execute_tool b 20-50 incomplete\n"
                                     "  chat 35-40\n");
}

TEST_CASE("Open spans have a bound in bytes, which closed ones give back") {
  auto options = seeded();
  options.capture_content = true;
  options.max_open_bytes = 20'000;
  trace_builder builder{options};
  span_log log;
  log.starts(root, 0);
  for (int i = 0; i < 100; ++i) {
    const auto call = "c0-0-" + std::to_string(i);
    log.calls(root, i, call, "a", "{\"text\":\"" + std::string(8'000, 'x') + "\"}");
    if (i < 90)
      log.result(root, i, call, "a");
  }
  std::size_t most = 0;
  for (const auto& e : log.events) {
    builder.add(*e);
    most = std::max(most, builder.open());
    if (e->time < timestamp{std::chrono::milliseconds{90}})
      CHECK(builder.closed_early() == 0);
  }
  CHECK(most <= 4);
  CHECK(builder.closed_early() >= 7);
}

TEST_CASE("An agent that an earlier process started gets a span from where it goes on") {
  span_log log;
  log.result(root, 100, "c0-3-0", "slow", 30);
  log.says(root, 200, 50, "x");
  log.ends(root, 210);
  const auto spans = spans_of(log);
  CHECK(span_tree(spans) == "invoke_agent root 70-210\n"
                            "  execute_tool slow 70-100\n"
                            "  chat 150-200\n");
  CHECK(attribute(find_span(spans, "invoke_agent root")->attributes, otel::resumed) == "true");
}

TEST_CASE("What comes between runs opens no span") {
  span_log log;
  log.starts(root, 0);
  log.ends(root, 10);
  log.add(root, 20, steering_body{"later", "user"});
  CHECK(spans_of(log, seeded(), true).size() == 1);
}

TEST_CASE("Events of a span have a bound") {
  auto options = seeded();
  options.max_events = 2;
  span_log log;
  log.starts(root, 0);
  for (int i = 0; i < 5; ++i)
    log.add(root, i, warning_body{errc::busy, "again", {}, false});
  log.ends(root, 10);
  const auto spans = spans_of(log, options);
  CHECK(spans[0].events.size() == 2);
  CHECK(spans[0].dropped_events == 3);
}
