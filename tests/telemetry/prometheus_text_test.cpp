// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/metric_labels.hpp>
#include <troupe/runtime/telemetry/prometheus_text.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "telemetry/vitals.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

// A reader of the format that takes nothing on trust: each family once, its samples together and of its type.
struct parsed_metrics {
  std::map<std::string, std::string> types;
  std::map<std::string, double> samples; // "name{label="value"}" → value
  std::vector<std::string> faults;
};

std::string family_of(const std::string& name, const parsed_metrics& so_far) {
  for (const std::string suffix : {"_bucket", "_sum", "_count"})
    if (name.ends_with(suffix))
      if (auto base = name.substr(0, name.size() - suffix.size());
          so_far.types.contains(base) && so_far.types.at(base) == "histogram")
        return base;
  return name;
}

// The end of the labels that begin at `at`: quotes may hold braces and escapes.
std::size_t labels_end(const std::string& line, std::size_t at) {
  bool quoted = false;
  for (; at < line.size(); ++at) {
    if (quoted && line[at] == '\\')
      ++at;
    else if (line[at] == '"')
      quoted = !quoted;
    else if (line[at] == '}' && !quoted)
      return at + 1;
  }
  return std::string::npos;
}

parsed_metrics parse(const std::string& text) {
  parsed_metrics out;
  std::istringstream lines{text};
  std::string helped, current;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string mark, what, name, type;
    if (line.starts_with("# HELP ")) {
      words >> mark >> what >> helped;
    } else if (line.starts_with("# TYPE ")) {
      words >> mark >> what >> name >> type;
      if (name != helped || !out.types.emplace(name, type).second)
        out.faults.push_back("TYPE without HELP, or twice: " + line);
      if ((type == "counter") != name.ends_with("_total"))
        out.faults.push_back("only counters end in _total: " + line);
      current = name;
    } else {
      const auto brace = line.find_first_of("{ ");
      const auto end = line[brace] == '{' ? labels_end(line, brace) : brace;
      if (end == std::string::npos || line[end] != ' ') {
        out.faults.push_back("no value: " + line);
        continue;
      }
      if (family_of(line.substr(0, brace), out) != current)
        out.faults.push_back("a sample of another family: " + line);
      if (!out.samples.emplace(line.substr(0, end), std::stod(line.substr(end + 1))).second)
        out.faults.push_back("a sample twice: " + line);
    }
  }
  return out;
}

} // namespace

TEST_CASE("The metrics parse, and say what the runtime has done") {
  process_figures process{"1.2.3", 4096, 1.5, 7, 1'700'000'000.25};
  const auto text = prometheus_text(some_vitals(), some_models(), process);
  auto parsed = parse(text);
  for (const auto& fault : parsed.faults)
    CHECK_MESSAGE(false, fault);
  auto& s = parsed.samples;
  CHECK(s.at("troupe_build_info{version=\"1.2.3\"}") == 1);
  CHECK(s.at("troupe_agents{state=\"thinking\"}") == 1);
  CHECK(s.at("troupe_agent_runs_total{outcome=\"completed\"}") == 3);
  CHECK(s.at("troupe_events_total{kind=\"tool_call\"}") == 7);
  CHECK(s.at("troupe_turns_total") == 9);
  CHECK(s.at("troupe_tokens_total{model=\"fast\",type=\"cached_input\"}") == 400);
  CHECK(s.at("troupe_cost_usd_total{model=\"fast\"}") == 2.5);
  CHECK(s.at("troupe_tool_calls_total{tool=\"read_file\",outcome=\"ok\"}") == 3);
  CHECK(s.at("troupe_tool_calls_total{tool=\"(others)\",outcome=\"ok\"}") == 2);
  CHECK(s.at("troupe_tool_calls_total{tool=\"odd\\\"name\\\\with\\nlines\",outcome=\"ok\"}") == 1);
  CHECK(s.at("troupe_model_requests_total{model=\"fast\",outcome=\"rate_limited\"}") == 1);
  CHECK(s.at("troupe_model_requests_total{model=\"fast\",outcome=\"failed\"}") == 1);
  CHECK(s.at("troupe_model_breaker_state{model=\"fast\",state=\"half_open\"}") == 1);
  CHECK(s.at("troupe_model_queue_depth{model=\"fast\"}") == 3);
  CHECK(s.at("troupe_mailbox_wait_seconds_count{kind=\"supervisor\"}") == 1);
  CHECK(s.at("process_cpu_seconds_total") == 1.5);
}

TEST_CASE("Buckets add up, and their bounds are seconds") {
  const auto s = parse(prometheus_text(some_vitals(), {}, {})).samples;
  const std::string name = "troupe_tool_call_duration_seconds";
  CHECK(s.at(name + "_bucket{tool=\"read_file\",le=\"0.0005\"}") == 0);
  CHECK(s.at(name + "_bucket{tool=\"read_file\",le=\"0.001\"}") == 1);
  CHECK(s.at(name + "_bucket{tool=\"read_file\",le=\"0.002\"}") == 2);
  CHECK(s.at(name + "_bucket{tool=\"read_file\",le=\"200\"}") == 2);
  CHECK(s.at(name + "_bucket{tool=\"read_file\",le=\"+Inf\"}") == 3);
  CHECK(s.at(name + "_count{tool=\"read_file\"}") == 3);
  CHECK(s.at(name + "_sum{tool=\"read_file\"}") == doctest::Approx(600.0025));
}

TEST_CASE("Names of tools are masked and cut, and those that become the same add up") {
  std::map<std::string, tool_activity> tools;
  tools[std::string(200, 'x') + "1"].calls = 1;
  tools[std::string(200, 'x') + "2"].calls = 2;
  tools["api_key=sk-abcdefghijklmnopqrstuvwx1234"].calls = 1;
  const auto labelled = labelled_tools(tools);
  CHECK(labelled.at(std::string(max_label_bytes, 'x')).calls == 3);
  for (const auto& [label, tool] : labelled)
    CHECK(label.find("abcdefghijklmnop") == std::string::npos);
}

TEST_CASE("The figures of this process are read") {
  const auto figures = read_process_figures("v");
  CHECK(figures.resident_bytes > 1'000'000);
  CHECK(figures.open_fds >= 3);
  CHECK(figures.start_seconds > 1'600'000'000.0);
  CHECK(figures.cpu_seconds >= 0);
}
