// Spans and metrics in the form in which collectors take them: OTLP/HTTP with JSON bodies.
//
// Rules (opentelemetry-proto, docs/specification.md): keys in lowerCamelCase, ids of traces and spans in hexadecimal,
// enums as integers, 64-bit integers and times in nanoseconds as decimal strings. Names: telemetry_names.hpp.
//
// Pure functions. Texts are masked already where they come from (trace_builder, metric_labels).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/activity_json.hpp>
#include <troupe/runtime/telemetry/trace_span.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

// Who sends it.
struct otlp_resource {
  std::vector<std::pair<std::string, std::string>> attributes; // "service.name" and others
  std::string version;                                         // of the scope "troupe"; may be empty
};

// The body for /v1/traces.
[[nodiscard]] std::string otlp_traces(const otlp_resource& resource, std::span<const trace_span> spans);

// What metrics are made of. Counters and histograms are sums since `start` (cumulative temporality).
struct otlp_figures {
  const activity_vitals& vitals;
  const std::map<std::string, model_listing>& models;
  std::uint64_t spans_dropped = 0;
  timestamp start{};
  timestamp now{};
};

// The body for /v1/metrics.
[[nodiscard]] std::string otlp_metrics(const otlp_resource& resource, const otlp_figures& figures);

} // namespace troupe
