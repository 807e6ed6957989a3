// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/engine.hpp>
#include <troupe/actors/interfaces.hpp>
#include <troupe/runtime/function_model.hpp>
#include <troupe/runtime/telemetry/trace_ids.hpp>

#include <doctest/doctest.h>

#include "support/profiles.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

TEST_CASE("a program of actors starts a run by a message") {
  auto engine = actors::make_engine({});
  actors::engine_model model;
  model.id = "fast";
  model.provider = function_model([](const model_request&) { return text_response("hello"); });
  engine->add_model(std::move(model));
  run_request request;
  request.session = session_id{"s"};
  request.root = build(root());
  request.message = say("go");
  auto feed = std::make_shared<run_feed>(request.session, engine->store());
  {
    auto actor = actors::engine_actor(*engine);
    REQUIRE(actor);
    caf::anon_send(actor, actors::start_run{std::make_shared<const run_request>(std::move(request)),
                                            std::make_shared<run_feed_writer>(feed)});
  }
  auto result = feed->wait(std::chrono::steady_clock::now() + 20s);
  REQUIRE(result.has_value());
  CHECK(result->text() == "hello");
}

TEST_CASE("after a shutdown every start is refused") {
  auto engine = actors::make_engine({});
  CHECK(engine->shutdown(5s).empty());
  run_request request;
  request.session = session_id{"s"};
  request.root = build(root());
  request.message = say("go");
  auto feed = std::make_shared<run_feed>(request.session, engine->store());
  engine->start(std::move(request), feed);
  auto result = feed->wait(std::chrono::steady_clock::now() + 20s);
  REQUIRE(result.has_value());
  CHECK(result->code() == errc::shutting_down);
}

TEST_CASE("a tool is told the span of its call") {
  actors::engine_options options;
  options.trace_seed = "seed";
  auto engine = actors::make_engine(options);
  actors::engine_model model;
  model.id = "fast";
  model.provider = function_model([](const model_request& asked) {
    return asked.contents.size() > 1 ? text_response("done")
                                     : call_response("look", nlohmann::json::object());
  });
  engine->add_model(std::move(model));
  std::string told;
  auto tool = std::make_shared<tool_definition>(*make_tool("look"));
  tool->annotations.runs_inline = true;
  tool->run = [&told](const nlohmann::json&, tool_context& context) {
    told = context.traceparent;
    return tool_result{"seen", {}, {}};
  };
  auto spec = root();
  spec.tools.emplace_back(tool);
  run_request request;
  request.session = session_id{"s"};
  request.root = build(spec);
  request.message = say("go");
  auto feed = std::make_shared<run_feed>(request.session, engine->store());
  engine->start(std::move(request), feed);
  REQUIRE(feed->wait(std::chrono::steady_clock::now() + 20s).has_value());
  CHECK(told == traceparent("seed", run_id{"s/r1"}, session_id{"s"}, call_id{"c0-0-0"}));
}
