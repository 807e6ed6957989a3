// The telemetry of a runtime: the exporter with threads and connections of its own, and the file of events. Each where it
// is asked for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/embed/internal/events_file.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/otlp_exporter.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/ports/engine.hpp>
#include <troupe/runtime/telemetry/telemetry_options.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace troupe {

// Where telemetry goes, known before there is an engine.
struct telemetry_plan {
  telemetry_settings settings{};
  std::filesystem::path events_file{};
  std::string seed{}; // of the engine's traces; empty: it makes none
};

[[nodiscard]] telemetry_plan plan_telemetry(const telemetry_options& options);

class runtime_telemetry {
 public:
  // Waits, for a second at most, until the engine keeps its events for followers, so that no run begins unseen. Null when
  // nothing is asked for. What the environment asks for in vain is logged; what the program asks for in vain (the
  // endpoint of `options`, the file) fails with bad_config.
  [[nodiscard]] static result<std::unique_ptr<runtime_telemetry>>
  make(telemetry_plan plan, const telemetry_options& options, engine& of,
       std::function<traced_model(const std::string& id)> model_of, const log_sink& log);

  // Sends and writes what there is, for about flush_limit at most. The engine may end afterwards.
  void stop();

  static constexpr std::chrono::milliseconds flush_limit{2'000};

 private:
  status export_to(telemetry_plan plan, engine& of, std::uint64_t after,
                   std::function<traced_model(const std::string& id)> model_of, const log_sink& log);

  std::unique_ptr<net::io_pool> io_;
  std::shared_ptr<net::http_client> client_;
  std::unique_ptr<net::otlp_exporter> exporter_;
  std::unique_ptr<events_file> file_;
};

} // namespace troupe
