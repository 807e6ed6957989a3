// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/telemetry_options.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace troupe;

namespace {

telemetry_settings settings(const telemetry_options& options,
                            const std::map<std::string, std::string>& variables) {
  return make_telemetry_settings(options, [&variables](const char* name) -> const char* {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string attribute(const telemetry_settings& s, const std::string& key) {
  for (const auto& [name, value] : s.resource)
    if (name == key)
      return value;
  return {};
}

} // namespace

TEST_CASE("Nothing is sent without an endpoint") {
  const auto s = settings({}, {{"OTEL_SERVICE_NAME", "x"}});
  CHECK_FALSE(s.traces);
  CHECK_FALSE(s.metrics);
}

TEST_CASE("The environment says where, with what and as whom") {
  const auto s = settings({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/"},
                               {"OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b, x-team = blue"},
                               {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
                               {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://other:4318/in"},
                               {"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x-key=m"},
                               {"OTEL_SERVICE_NAME", "team"},
                               {"OTEL_RESOURCE_ATTRIBUTES", "service.name=old,deployment.environment=test"},
                               {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "True"}});
  REQUIRE(s.traces);
  CHECK(s.traces->url == "http://collector:4318/v1/traces");
  CHECK(s.traces->headers ==
        std::vector<std::pair<std::string, std::string>>{{"x-key", "a b"}, {"x-team", "blue"}});
  CHECK(s.traces->timeout.count() == 2500);
  REQUIRE(s.metrics);
  CHECK(s.metrics->url == "http://other:4318/in");
  CHECK(s.metrics->headers == std::vector<std::pair<std::string, std::string>>{{"x-key", "m"}});
  CHECK(attribute(s, "service.name") == "team");
  CHECK(attribute(s, "deployment.environment") == "test");
  CHECK(s.capture_content);
  CHECK(s.warnings.empty());
}

TEST_CASE("What the program declares counts before the environment") {
  telemetry_options options;
  options.otlp_endpoint = "https://mine";
  options.service_name = "mine";
  const std::map<std::string, std::string> variables{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector"},
                                                     {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces"},
                                                     {"OTEL_SERVICE_NAME", "theirs"}};
  auto s = settings(options, variables);
  CHECK(s.traces->url == "https://mine/v1/traces");
  CHECK(s.metrics->url == "https://mine/v1/metrics");
  CHECK(attribute(s, "service.name") == "mine");
  options = {};
  options.from_environment = false;
  CHECK_FALSE(settings(options, variables).traces);
}

TEST_CASE("OTEL_SDK_DISABLED turns it off") {
  telemetry_options options;
  options.otlp_endpoint = "https://mine";
  CHECK_FALSE(settings(options, {{"OTEL_SDK_DISABLED", "true"}}).traces);
}

TEST_CASE(
    "Variables that cannot be used are named and left out, without their values where they may be secret") {
  const auto s = settings({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                               {"OTEL_EXPORTER_OTLP_HEADERS", "authorization: Bearer secret"},
                               {"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"}});
  CHECK(s.traces->headers.empty());
  CHECK(s.traces->timeout.count() == 10'000);
  REQUIRE(s.warnings.size() >= 2);
  for (const auto& w : s.warnings)
    CHECK(w.find("secret") == std::string::npos);
}
