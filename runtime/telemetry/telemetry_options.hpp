// What a program says about telemetry, and what becomes of it with the environment: where spans and metrics go.
//
// Source: the OpenTelemetry specification (configuration/sdk-environment-variables.md, protocol/exporter.md). A variable
// that cannot be used is passed over with a warning, as it asks; what the program itself declares counts before the
// environment. Values of headers are secrets: no message shows them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

struct telemetry_options {
  std::string
      otlp_endpoint{}; // base URL of a collector; empty: the environment's, and without any nothing is sent
  std::string service_name{};          // empty: the environment's, or "troupe"
  bool capture_content = false;        // spans hold what was said, masked and cut
  std::filesystem::path events_file{}; // gets a line of JSON for each stored event; empty: none
  bool from_environment = true;        // OTEL_* variables count
};

// Where one signal goes.
struct otlp_target {
  std::string url; // whole, with its path
  std::vector<std::pair<std::string, std::string>> headers{};
  std::chrono::milliseconds timeout{10'000}; // of one request
};

struct telemetry_settings {
  std::optional<otlp_target> traces{};
  std::optional<otlp_target> metrics{};
  std::vector<std::pair<std::string, std::string>> resource{}; // attributes, service.name among them
  bool capture_content = false;
  std::vector<std::string> warnings{}; // about variables
};

// `variable` gives the value of an environment variable, or null. Pure.
[[nodiscard]] telemetry_settings
make_telemetry_settings(const telemetry_options& options,
                        const std::function<const char*(const char* name)>& variable);

} // namespace troupe
