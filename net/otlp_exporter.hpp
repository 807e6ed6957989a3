// Sends what agents do to an OpenTelemetry collector: spans as they end, metrics every few seconds (OTLP/HTTP, JSON).
//
// It asks the engine for its recent events, never twice at a time, folds them into spans (trace_builder.hpp) and posts
// them; nothing waits for it. At most `max_queue` spans of about `max_queue_bytes` wait for the collector, what is too many is dropped and
// counted.
// Events that the engine could not keep for so long are counted too; spans that miss their end are closed at stop().
//
// Ownership: engine and timer outlive the exporter's stop(). Thread-safe. Work is done on the timer's threads, one piece
// at a time; give it a pool of its own where the network of models must not wait for it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/http_client.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/ports/engine.hpp>
#include <troupe/runtime/ports/timer.hpp>
#include <troupe/runtime/telemetry/otlp_json.hpp>
#include <troupe/runtime/telemetry/telemetry_options.hpp>
#include <troupe/runtime/telemetry/trace_builder.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace troupe::net {

struct otlp_exporter_options {
  std::optional<otlp_target> traces{};  // absent: no spans are sent
  std::optional<otlp_target> metrics{}; // absent: no metrics are sent
  otlp_resource resource{};
  trace_options tracing{};
  std::uint64_t after =
      0; // recent_events::position of the first event of interest; 0: from the first pull on
  std::chrono::milliseconds pull_every{500};
  std::chrono::milliseconds metrics_every{15'000};
  std::size_t max_queue = 16'384; // spans
  std::size_t max_queue_bytes = 64 * 1024 * 1024;
  std::size_t max_batch = 512; // in one request
  std::uint32_t max_tries = 5;
  std::chrono::milliseconds retry_delay{1'000};
  log_sink log{};                          // told when sending begins to fail, and when it works again
  std::function<timestamp()> wall_clock{}; // empty: the system's
};

// Sums since the start.
struct otlp_exporter_counts {
  std::uint64_t spans_sent = 0; // that were taken
  std::uint64_t spans_dropped = 0;
  std::uint64_t events_missed = 0;
  std::uint64_t failures = 0; // posts that were given up
};

class otlp_exporter {
 public:
  // Begins at once. Fails with bad_config when a URL or header cannot be used.
  [[nodiscard]] static result<std::unique_ptr<otlp_exporter>>
  make(const std::shared_ptr<http_client>& client, timer& clock, engine& of, otlp_exporter_options options);

  // stop() without time to flush.
  ~otlp_exporter();
  otlp_exporter(const otlp_exporter&) = delete;
  otlp_exporter& operator=(const otlp_exporter&) = delete;

  // Takes the last events, ends open spans as incomplete and sends what there is, for at most `limit`; the rest counts as
  // dropped. Afterwards neither engine nor timer is used. Not from a thread of the timer or the client.
  void stop(std::chrono::milliseconds limit);

  [[nodiscard]] otlp_exporter_counts counts() const;

 private:
  class worker;
  explicit otlp_exporter(std::shared_ptr<worker> w);
  std::shared_ptr<worker> worker_;
};

} // namespace troupe::net
