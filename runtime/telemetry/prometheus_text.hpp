// What `/metrics` shows: counters, gauges and histograms of the runtime and its process, in the text format of Prometheus.
//
// Format: Prometheus text exposition 0.0.4; the names are in telemetry_names.hpp. Labels have few values: states,
// outcomes, kinds, models of the catalogue, and names of tools, of which activity_limits::max_tools are counted apart.
// No label holds a session, run or agent. Names of tools come from models, so they are masked, cut and escaped.
//
// A pure function. The text has about 25 lines a histogram: three for each model, two for each tool.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/activity_json.hpp>
#include <troupe/runtime/telemetry/process_figures.hpp>

#include <map>
#include <string>

namespace troupe {

inline constexpr const char* prometheus_content_type = "text/plain; version=0.0.4; charset=utf-8";

[[nodiscard]] std::string prometheus_text(const activity_vitals& vitals,
                                          const std::map<std::string, model_listing>& models,
                                          const process_figures& process);

} // namespace troupe
