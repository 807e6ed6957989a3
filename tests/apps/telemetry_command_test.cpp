// What a run leaves for others to read: the file of events, and what a collector gets.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_server.hpp"

using namespace troupe::test;
using nlohmann::json;

namespace {

program_result troupe_in(const temporary_folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TROUPE_PROGRAM);
  return run_program(folder.path(), std::move(arguments));
}

std::vector<json> lines_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::vector<json> out;
  for (std::string line; std::getline(in, line);)
    out.push_back(json::parse(line));
  return out;
}

} // namespace

TEST_CASE("--events-file gets every event as a line, with secrets masked, and is appended to") {
  const temporary_folder f;
  auto r = troupe_in(f, {"run", "--events-file", "events.jsonl", "say password=hunter2secret"});
  CHECK(r.code == 0);
  auto lines = lines_of(f.path() / "events.jsonl");
  REQUIRE(lines.size() >= 4);
  for (std::size_t i = 0; i < lines.size(); ++i)
    CHECK(lines[i]["seq"] == i + 1);
  CHECK(lines.front()["kind"] == "agent_started");
  CHECK(lines.back()["kind"] == "agent_ended");
  for (const auto& line : lines)
    CHECK(line.dump().find("hunter2secret") == std::string::npos);
  CHECK(troupe_in(f, {"run", "--events-file", "events.jsonl", "again"}).code == 0);
  CHECK(lines_of(f.path() / "events.jsonl").size() > lines.size());
}

TEST_CASE("a file of events that cannot be opened is a usage error") {
  const temporary_folder f;
  auto r = troupe_in(f, {"run", "--events-file", "none/events.jsonl", "hello"});
  CHECK(r.code == 2);
  CHECK(r.err.find("none/events.jsonl") != std::string::npos);
}

TEST_CASE("a run with an endpoint in its configuration tells the collector") {
  test_server server{[](const seen_request&) { return answer(200, "{}"); }};
  const temporary_folder f;
  std::ofstream{f.path() / "troupe.yaml"} << "name: team\ntelemetry:\n  otlp_endpoint: " << server.url()
                                          << "\n  service_name: crew\n  events_file: log.jsonl\n";
  CHECK(troupe_in(f, {"run", "--agent", "team", "hello"}).code == 0);
  std::string spans, metrics;
  for (const auto& request : server.requests())
    (request.head.starts_with("POST /v1/traces ") ? spans : metrics) += request.body;
  CHECK(spans.find("\"invoke_agent team\"") != std::string::npos);
  CHECK(spans.find("\"crew\"") != std::string::npos);
  CHECK(spans.find("troupe.incomplete") == std::string::npos);
  CHECK(metrics.find("gen_ai.invoke_agent.duration") != std::string::npos);
  CHECK(lines_of(f.path() / "log.jsonl").size() >= 4);
}

TEST_CASE("a collector that is not there is no reason to fail") {
  const temporary_folder f;
  std::ofstream{f.path() / "troupe.yaml"} << "telemetry:\n  otlp_endpoint: http://127.0.0.1:9\n";
  const auto r = troupe_in(f, {"run", "hello"});
  CHECK(r.code == 0);
}
