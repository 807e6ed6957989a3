// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>
#include <troupe/net/otlp_exporter.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <thread>

#include "support/manual_timer.hpp"
#include "support/telling_engine.hpp"
#include "support/test_server.hpp"
#include "telemetry/span_log.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

struct collector {
  explicit collector(test_server::script script) : server(std::move(script)) {
    options.traces = otlp_target{server.url() + "/v1/traces", {{"x-key", "secret"}}};
    options.tracing.seed = "seed";
    options.resource.attributes = {{"service.name", "test"}};
    options.after = 1;
    options.log = [this](log_level level, std::string_view text) {
      std::lock_guard lock{mutex};
      logged.push_back((level == log_level::warning ? "warning: " : "info: ") + std::string{text});
    };
  }

  void begin() { exporter = *otlp_exporter::make(client, clock, engine, options); }

  // Spans of one run, whose tool calls are many.
  void run_with(int calls) {
    span_log log;
    const auto root = agent_origin("s", ++runs, 0, "root");
    log.starts(root, 0);
    for (int i = 0; i < calls; ++i) {
      const auto call = "c0-0-" + std::to_string(i);
      log.calls(root, 10, call, "look");
      log.result(root, 20, call, "look");
    }
    log.ends(root, 30);
    for (const auto& e : log.events)
      engine.add(e);
  }

  // stop() waits for the timer.
  void stop(std::chrono::milliseconds limit = 20s) {
    std::atomic<bool> ended = false;
    std::thread stopper{[&] {
      exporter->stop(limit);
      ended = true;
    }};
    while (!ended) {
      clock.advance(1ms);
      std::this_thread::yield();
    }
    stopper.join();
  }

  // Lets time pass until the server has been asked so often.
  void advance_until(std::size_t requests) {
    const auto patience = std::chrono::steady_clock::now() + 20s;
    while (server.requests().size() < requests && std::chrono::steady_clock::now() < patience) {
      clock.advance(100ms);
      std::this_thread::yield();
    }
    CHECK(server.requests().size() == requests);
  }

  template <class Done>
  void advance_until_true(Done done) {
    const auto patience = std::chrono::steady_clock::now() + 20s;
    while (!done() && std::chrono::steady_clock::now() < patience) {
      clock.advance(100ms);
      std::this_thread::yield();
    }
    CHECK(done());
  }

  [[nodiscard]] json body(std::size_t request) const {
    return json::parse(server.requests().at(request).body);
  }

  std::mutex mutex;
  std::vector<std::string> logged;
  std::uint32_t runs = 0;
  test_server server;
  io_pool pool;
  manual_timer clock;
  telling_engine engine;
  std::shared_ptr<http_client> client = std::make_shared<http_client>(pool);
  otlp_exporter_options options;
  std::unique_ptr<otlp_exporter> exporter;
};

const json& spans_in(const json& body) {
  return body["resourceSpans"][0]["scopeSpans"][0]["spans"];
}

} // namespace

TEST_CASE("Spans go to the collector as their agents end") {
  collector c{[](const seen_request&) { return answer(200, "{}"); }};
  c.run_with(1);
  c.begin();
  c.advance_until(1);
  const auto request = c.server.requests().at(0);
  CHECK(request.head.starts_with("POST /v1/traces HTTP/1.1"));
  CHECK(request.head.find("Content-Type: application/json") != std::string::npos);
  CHECK(request.head.find("x-key: secret") != std::string::npos);
  REQUIRE(spans_in(c.body(0)).size() == 2);
  CHECK(spans_in(c.body(0))[1]["name"] == "invoke_agent root");
  c.run_with(2);
  c.advance_until(2);
  CHECK(spans_in(c.body(1)).size() == 3);
  c.advance_until_true([&] { return c.exporter->counts().spans_sent == 5; });
  CHECK(c.logged.empty());
}

TEST_CASE("The engine is not asked again before it has answered") {
  collector c{[](const seen_request&) { return answer(200, "{}"); }};
  c.engine.held = true;
  c.begin();
  c.clock.advance(10s);
  CHECK(c.engine.pulls == 1);
  c.engine.answer();
  c.clock.advance(400ms);
  CHECK(c.engine.pulls == 1);
  c.clock.advance(100ms);
  CHECK(c.engine.pulls == 2);
}

TEST_CASE("A collector that has no time is asked again, when it says so") {
  std::atomic<int> count = 0;
  collector c{[&count](const seen_request&) {
    return ++count == 1 ? answer(503, "later", "text/plain", "Retry-After: 5\r\n") : answer(200, "{}");
  }};
  c.run_with(0);
  c.begin();
  c.advance_until(1);
  CHECK(c.server.wait_requests(1));
  // The next try is planned once the answer is there: then two timers wait, of the retry and of the next pull.
  const auto patience = std::chrono::steady_clock::now() + 20s;
  while (c.clock.waiting() < 2 && std::chrono::steady_clock::now() < patience)
    std::this_thread::yield();
  c.clock.advance(4800ms); // some of the time may have passed before
  CHECK(count == 1);
  c.advance_until(2);
  CHECK(c.server.requests()[0].body == c.server.requests()[1].body);
  c.advance_until_true([&] { return c.exporter->counts().spans_sent == 1; });
  CHECK(c.exporter->counts().failures == 0);
}

TEST_CASE("Tries have an end, and what is lost is told once") {
  collector c{[](const seen_request&) { return answer(502, "no"); }};
  c.options.max_tries = 3;
  c.run_with(0);
  c.begin();
  c.advance_until(3);
  c.advance_until_true([&] { return c.exporter->counts().failures == 1; });
  CHECK(c.exporter->counts().spans_dropped == 1);
  c.run_with(0);
  c.advance_until_true([&] { return c.exporter->counts().failures == 2; });
  std::lock_guard lock{c.mutex};
  REQUIRE(c.logged.size() == 1);
  CHECK(c.logged[0] == "warning: Telemetry is lost. The collector answered 502: no");
}

TEST_CASE("What a collector refuses for good is not sent again") {
  std::atomic<int> count = 0;
  collector c{[&count](const seen_request&) {
    return ++count == 1 ? answer(400, "bad")
                        : answer(200, R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"full"}})");
  }};
  c.run_with(0);
  c.begin();
  c.advance_until_true([&] { return c.exporter->counts().failures == 1; });
  CHECK(c.exporter->counts().spans_dropped == 1);
  c.run_with(2);
  c.advance_until_true([&] { return c.exporter->counts().failures == 2; });
  c.clock.advance(60s);
  CHECK(count == 2);
  CHECK(c.exporter->counts().spans_sent == 1);
  CHECK(c.exporter->counts().spans_dropped == 3);
}

TEST_CASE("Batches and the queue have bounds") {
  collector c{[](const seen_request&) { return answer(200, "{}"); }};
  c.options.max_batch = 2;
  c.options.max_queue = 5;
  c.run_with(7); // eight spans
  c.begin();
  c.advance_until(3);
  c.advance_until_true([&] { return c.exporter->counts().spans_sent == 5; });
  CHECK(c.exporter->counts().spans_dropped == 3);
  CHECK(spans_in(c.body(0)).size() == 2);
  CHECK(spans_in(c.body(2)).size() == 1);
}

TEST_CASE("Events that the engine did not keep are counted") {
  collector c{[](const seen_request&) { return answer(200, "{}"); }};
  c.engine.missed = 7;
  c.begin();
  c.advance_until_true([&] { return c.exporter->counts().events_missed == 7; });
}

TEST_CASE("Metrics go out on their own beat") {
  collector c{[](const seen_request&) { return answer(200, "{}"); }};
  c.options.traces.reset();
  c.options.metrics = otlp_target{c.server.url() + "/v1/metrics"};
  c.engine.figures.totals.completed = 4;
  c.engine.statuses["fast"].counts.completed = 2;
  c.begin();
  c.clock.advance(14'900ms);
  CHECK(c.server.requests().empty());
  c.advance_until(1);
  const auto text = c.server.requests()[0].body;
  CHECK(c.server.requests()[0].head.starts_with("POST /v1/metrics "));
  CHECK(json::accept(text));
  CHECK(text.find("gen_ai.client.operation.duration") != std::string::npos);
  c.advance_until(2);
}

TEST_CASE("stop sends what there is: the last events, open spans, metrics") {
  collector c{[](const seen_request&) { return answer(200, "{}"); }};
  c.options.metrics = otlp_target{c.server.url() + "/v1/metrics"};
  c.begin();
  span_log log;
  log.starts(agent_origin("s", 1, 0, "root"), 5);
  c.engine.add(log.events[0]);
  c.stop();
  const auto requests = c.server.requests();
  REQUIRE(requests.size() == 2);
  const auto& traces = requests[requests[0].head.starts_with("POST /v1/traces") ? 0 : 1];
  CHECK(traces.body.find("troupe.incomplete") != std::string::npos);
  CHECK(c.exporter->counts().spans_sent == 1);
  const int pulls = c.engine.pulls;
  c.clock.advance(60s);
  CHECK(c.engine.pulls == pulls);
}

TEST_CASE("stop does not wait for a collector that is not there") {
  collector c{[](const seen_request&) { return scripted_reply{}; }};
  c.run_with(0);
  c.begin();
  c.stop(50ms);
  CHECK(c.exporter->counts().spans_dropped == 1);
  CHECK(c.exporter->counts().spans_sent == 0);
  REQUIRE(c.logged.size() == 1);
  CHECK(c.logged[0] == "warning: Telemetry is lost. The collector did not take the last 1 spans in time.");
}

TEST_CASE("An engine that has ended is left alone") {
  collector c{[](const seen_request&) { return answer(200, "{}"); }};
  c.engine.ended = true;
  c.begin();
  c.clock.advance(10s);
  CHECK(c.engine.pulls == 1);
  c.stop();
}

TEST_CASE("A URL that cannot be used is told") {
  collector c{[](const seen_request&) { return answer(200, "{}"); }};
  c.options.traces->url = "ftp://x";
  const auto made = otlp_exporter::make(c.client, c.clock, c.engine, c.options);
  REQUIRE_FALSE(made);
  CHECK(made.failure().code == errc::bad_config);
}
