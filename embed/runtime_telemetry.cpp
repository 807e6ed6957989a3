// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/proxy_environment.hpp>
#include <troupe/embed/internal/runtime_telemetry.hpp>
#include <troupe/net/proxy.hpp>
#include <troupe/runtime/telemetry/telemetry_names.hpp>
#include <troupe/runtime/telemetry/trace_ids.hpp>

#include <cstdlib>
#include <future>
#include <utility>

namespace troupe {
namespace {

constexpr std::chrono::seconds first_answer{1};

// Where the newest event is; from here on the engine keeps events for a while. 0 when it does not answer.
std::uint64_t position_of(engine& of) {
  auto answer = std::make_shared<std::promise<std::uint64_t>>();
  auto position = answer->get_future();
  of.recent({}, [answer](const std::shared_ptr<const recent_events>& came) {
    answer->set_value(came == nullptr ? 0 : came->position);
  });
  return position.wait_for(first_answer) == std::future_status::ready ? position.get() : 0;
}

std::shared_ptr<net::http_client> make_client(net::io_pool& io, bool from_environment, const log_sink& log) {
  net::http_client_options options;
  options.max_connections_per_host = 4;
  if (from_environment) {
    auto rules =
        net::proxy_rules::parse(read_proxy_settings([](const char* name) { return std::getenv(name); }));
    if (rules)
      options.proxies = *std::move(rules);
    else if (log)
      log(log_level::warning, "Telemetry goes without a proxy: " + rules.failure().message);
  }
  return std::make_shared<net::http_client>(io, std::move(options));
}

} // namespace

telemetry_plan plan_telemetry(const telemetry_options& options) {
  telemetry_plan plan;
  plan.settings = make_telemetry_settings(options, [](const char* name) { return std::getenv(name); });
  plan.events_file = options.events_file;
  if (plan.settings.traces)
    plan.seed = make_trace_seed();
  return plan;
}

result<std::unique_ptr<runtime_telemetry>>
runtime_telemetry::make(telemetry_plan plan, const telemetry_options& options, engine& of,
                        std::function<traced_model(const std::string& id)> model_of, const log_sink& log) {
  if (log)
    for (const auto& warning : plan.settings.warnings)
      log(log_level::warning, warning);
  const bool exports = plan.settings.traces || plan.settings.metrics;
  if (!exports && plan.events_file.empty())
    return std::unique_ptr<runtime_telemetry>{};
  auto made = std::make_unique<runtime_telemetry>();
  const auto after = position_of(of);
  if (!plan.events_file.empty()) {
    auto file = events_file::open(plan.events_file, of, after, log);
    if (!file)
      return std::move(file).failure();
    made->file_ = *std::move(file);
  }
  if (!exports)
    return made;
  made->io_ = std::make_unique<net::io_pool>();
  made->client_ = make_client(*made->io_, options.from_environment, log);
  if (auto begun = made->export_to(std::move(plan), of, after, std::move(model_of), log); !begun) {
    if (!options.otlp_endpoint.empty())
      return begun.failure();
    if (log)
      log(log_level::error, "Telemetry is not sent: " + begun.failure().message);
  }
  return made;
}

status runtime_telemetry::export_to(telemetry_plan plan, engine& of, std::uint64_t after,
                                    std::function<traced_model(const std::string& id)> model_of,
                                    const log_sink& log) {
  net::otlp_exporter_options options;
  options.traces = std::move(plan.settings.traces);
  options.metrics = std::move(plan.settings.metrics);
  options.resource.attributes = std::move(plan.settings.resource);
  options.resource.attributes.emplace_back(otel::service_version, TROUPE_VERSION);
  options.resource.attributes.emplace_back(otel::service_instance, make_trace_seed());
  options.resource.version = TROUPE_VERSION;
  options.tracing.seed = std::move(plan.seed);
  options.tracing.capture_content = plan.settings.capture_content;
  options.tracing.model_of = std::move(model_of);
  options.after = after;
  options.log = log;
  auto exporter = net::otlp_exporter::make(client_, *io_, of, std::move(options));
  if (!exporter)
    return std::move(exporter).failure();
  exporter_ = *std::move(exporter);
  return ok();
}

void runtime_telemetry::stop() {
  if (exporter_)
    exporter_->stop(flush_limit);
  if (file_)
    file_->stop();
}

} // namespace troupe
