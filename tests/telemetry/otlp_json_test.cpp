// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/otlp_json.hpp>
#include <troupe/runtime/telemetry/telemetry_names.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "telemetry/span_log.hpp"
#include "telemetry/vitals.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;

namespace {

const otlp_resource resource{{{"service.name", "test"}}, "1.0"};

trace_span some_span() {
  trace_span span;
  span.trace_id = std::string(32, 'a');
  span.span_id = std::string(16, 'b');
  span.parent_id = std::string(16, 'c');
  span.name = "chat fast \xff";
  span.kind = span_kind::client;
  span.start = timestamp{std::chrono::microseconds{1'700'000'000'123'456}};
  span.end = span.start + std::chrono::seconds{1};
  span.attributes = {{"text", "x"}, {"count", std::int64_t{1} << 60}, {"part", 0.25}, {"yes", true}};
  span.events.push_back({span.end, "happened", {{"why", "because"}}});
  span.dropped_events = 2;
  span.links.push_back({std::string(32, 'd'), std::string(16, 'e')});
  span.status = span_status::error;
  span.status_message = "broken";
  return span;
}

json metric_named(const json& body, const std::string& name) {
  for (const auto& metric : body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"])
    if (metric["name"] == name)
      return metric;
  return {};
}

} // namespace

TEST_CASE("A span in OTLP: ids in hex, enums as numbers, 64-bit integers as text") {
  const std::vector<trace_span> spans{some_span()};
  const auto body = json::parse(otlp_traces(resource, spans));
  const json expected = R"({"resourceSpans": [{
    "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "test"}}]},
    "scopeSpans": [{"scope": {"name": "troupe", "version": "1.0"}, "spans": [{
      "traceId": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "spanId": "bbbbbbbbbbbbbbbb", "parentSpanId": "cccccccccccccccc",
      "name": "chat fast \ufffd", "kind": 3,
      "startTimeUnixNano": "1700000000123456000", "endTimeUnixNano": "1700000001123456000",
      "attributes": [{"key": "text", "value": {"stringValue": "x"}},
                     {"key": "count", "value": {"intValue": "1152921504606846976"}},
                     {"key": "part", "value": {"doubleValue": 0.25}},
                     {"key": "yes", "value": {"boolValue": true}}],
      "events": [{"timeUnixNano": "1700000001123456000", "name": "happened",
                  "attributes": [{"key": "why", "value": {"stringValue": "because"}}]}],
      "droppedEventsCount": 2,
      "links": [{"traceId": "dddddddddddddddddddddddddddddddd", "spanId": "eeeeeeeeeeeeeeee"}],
      "status": {"message": "broken", "code": 2}}]}]}]})"_json;
  CHECK(body == expected);
}

TEST_CASE("What a span does not have is left out") {
  const std::vector<trace_span> spans{{.trace_id = "a", .span_id = "b", .parent_id = {}, .name = "n"}};
  const auto span =
      json::parse(otlp_traces(resource, spans))["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  for (const char* key : {"parentSpanId", "attributes", "events", "links", "status", "droppedEventsCount"})
    CHECK_FALSE(span.contains(key));
}

TEST_CASE("Metrics are cumulative sums, gauges and histograms under the names of the conventions") {
  const auto vitals = some_vitals();
  const auto models = some_models();
  const timestamp start{std::chrono::seconds{100}};
  const auto body =
      json::parse(otlp_metrics(resource, {vitals, models, 3, start, start + std::chrono::seconds{60}}));
  const auto latency = metric_named(body, otel::metric_operation_duration);
  CHECK(latency["unit"] == "s");
  CHECK(latency["histogram"]["aggregationTemporality"] == 2);
  const auto& point = latency["histogram"]["dataPoints"][0];
  CHECK(point["count"] == "1");
  CHECK(point["sum"] == 0.04);
  CHECK(point["startTimeUnixNano"] == "100000000000");
  CHECK(point["timeUnixNano"] == "160000000000");
  REQUIRE(point["bucketCounts"].size() == point["explicitBounds"].size() + 1);
  for (std::size_t i = 0; i < point["explicitBounds"].size(); ++i)
    CHECK(point["bucketCounts"][i] == (point["explicitBounds"][i] == 0.05 ? "1" : "0"));
  const auto input = metric_named(body, otel::metric_input_tokens);
  CHECK(input["sum"]["isMonotonic"] == true);
  CHECK(input["sum"]["dataPoints"][0]["asInt"] == "1000");
  CHECK(metric_named(body, otel::metric_model_in_flight)["gauge"]["dataPoints"][0]["asInt"] == "1");
  CHECK(metric_named(body, otel::metric_tool_duration)["histogram"]["dataPoints"].size() == 3);
  CHECK(metric_named(body, otel::metric_spans_dropped)["sum"]["dataPoints"][0]["asInt"] == "3");
}
